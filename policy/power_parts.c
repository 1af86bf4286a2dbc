/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/power_parts.h"

#define HALVINGS 106 /* from 2^53 to the last bit of a double of 1 */

int power_part_is_valid(const struct power_part *part)
{
    return part->least >= 1 && part->least <= part->most
           && part->most <= POWER_LIMIT_MAX && part->count <= PART_COUNT_MAX;
}

static uint64_t least_of_two(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t power_parts_budget(const struct power_part part[],
                            size_t n,
                            uint64_t limit)
{
    uint64_t sum = 0;

    if (n == 0 || part[0].count == 0)
        return limit;
    for (size_t i = 0; i < n; i++) {
        uint64_t all = limit > part[i].most / part[i].count
                           ? part[i].most
                           : limit * part[i].count;

        sum += all > part[i].least ? all : part[i].least;
    }
    return least_of_two(sum, POWER_LIMIT_MAX);
}

int power_parts_allowed(const struct power_part part[],
                        size_t n,
                        uint64_t limit,
                        const uint64_t wanted[])
{
    uint64_t left = power_parts_budget(part, n, limit);

    for (size_t i = 0; i < n; i++) {
        if (wanted[i] < part[i].least || wanted[i] > part[i].most
            || wanted[i] > left)
            return 0;
        left -= wanted[i];
    }
    return n > 0;
}

int power_parts_bounds(const struct power_part part[],
                       size_t n,
                       uint64_t budget,
                       double lowest,
                       struct power_node node[])
{
    double all = 0;
    uint64_t floors = 0;

    for (size_t i = 0; i < n; i++)
        all += (double)part[i].most;
    for (size_t i = 0; i < n; i++) {
        double share = (double)part[i].most / all;
        uint64_t floor = (uint64_t)(lowest * share * (double)budget);

        if (floor < part[i].least)
            floor = part[i].least;
        if (floor > part[i].most)
            floor = part[i].most;
        node[i].floor = floor;
        node[i].ceiling = part[i].most;
        floors += floor;
    }
    return n > 0 && floors <= budget ? 0 : -1;
}

/* A limit that has been in proportion `scale` to what it was. */
static uint64_t scaled(const struct power_node *node, double scale)
{
    double was = (double)(node->limit > 0 ? node->limit : node->ceiling);
    double v = was * scale;

    if (v >= (double)node->ceiling)
        return node->ceiling;
    return v > (double)node->floor ? (uint64_t)v : node->floor;
}

static uint64_t sum_at(const struct power_node node[], size_t n, double scale)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += scaled(&node[i], scale);
    return sum;
}

void power_parts_divide(struct power_node node[], size_t n, uint64_t budget)
{
    double low = 0, high = (double)POWER_LIMIT_MAX;
    uint64_t left;

    for (int i = 0; i < HALVINGS; i++) {
        double middle = low + (high - low) / 2;

        if (sum_at(node, n, middle) <= budget)
            low = middle;
        else
            high = middle;
    }
    for (size_t i = 0; i < n; i++)
        node[i].limit = scaled(&node[i], low);
    left = budget - least_of_two(budget, sum_at(node, n, 1));
    for (size_t i = 0; i < n && left > 0; i++) {
        uint64_t more = least_of_two(left, node[i].ceiling - node[i].limit);

        node[i].limit += more;
        left -= more;
    }
}
