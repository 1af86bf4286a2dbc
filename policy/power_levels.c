/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/power_levels.h"

#include <math.h>

/* The members of one group, next to each other. */
struct members {
    struct power_node *node;
    size_t n;
};

static struct members members_of(const struct power_level *groups,
                                 const struct power_level *below,
                                 size_t i)
{
    return (struct members){below->node + groups->first[i],
                            groups->first[i + 1] - groups->first[i]};
}

static struct members top_of(const struct power_level *level, size_t levels)
{
    return (struct members){level[levels - 1].node, level[levels - 1].n};
}

size_t power_levels_bytes(const struct power_level *level, size_t levels)
{
    size_t most = top_of(level, levels).n;

    for (size_t k = 1; k < levels; k++)
        for (size_t i = 0; i < level[k].n; i++) {
            size_t n = members_of(&level[k], &level[k - 1], i).n;

            most = n > most ? n : most;
        }
    return power_bytes(most);
}

/* Of a limit, which is less than 2^63: one instruction, as of a signed one. */
static double real(uint64_t limit)
{
    return (double)(int64_t)limit;
}

static int reports(const struct power_node *node)
{
    return isfinite(node->progress) && node->progress > 0;
}

/* --- up ------------------------------------------------------------------- */

/* The sums over a group, and what stands for it. */
struct sums {
    struct power_node all;
    double slowest, need;
};

static struct sums sums_of(struct members m)
{
    struct sums s = {.slowest = INFINITY};

    for (size_t i = 0; i < m.n; i++) {
        const struct power_node *node = &m.node[i];

        if (!reports(node))
            continue;
        s.all.limit += node->limit;
        s.all.floor += node->floor;
        s.all.ceiling += node->ceiling;
        s.need += real(node->limit) / node->progress;
        if (node->progress < s.slowest)
            s.slowest = node->progress;
    }
    return s;
}

static uint64_t above(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* What those have that do not report, in and below group i of level k. */
static uint64_t silent_in(const struct power_level level[], size_t k, size_t i)
{
    uint64_t sum = 0;

    if (k == 0)
        return reports(&level[0].node[i]) ? 0 : level[0].node[i].limit;
    for (size_t j = level[k].first[i]; j < level[k].first[i + 1]; j++)
        sum += silent_in(level, k - 1, j);
    return sum;
}

static uint64_t budget_of(const struct power_level *level, size_t i)
{
    return level->budget ? level->budget[i] : 0;
}

/* A group above its budget gets no more. */
static void keep_budget(const struct power_level level[], size_t k, size_t i)
{
    struct power_node *group = &level[k].node[i];
    uint64_t most;

    if (budget_of(&level[k], i) == 0)
        return;
    most = above(budget_of(&level[k], i), silent_in(level, k, i));
    if (group->ceiling > most)
        group->ceiling = most > group->limit ? most : group->limit;
}

static void sum_up(struct power_level level[], size_t k)
{
    for (size_t i = 0; i < level[k].n; i++) {
        struct sums s = sums_of(members_of(&level[k], &level[k - 1], i));

        if (s.need > 0) /* one without any limit takes no part */
            s.all.progress = level[k].how == AGGREGATE_MIN
                                 ? s.slowest
                                 : real(s.all.limit) / s.need;
        level[k].node[i] = s.all;
        keep_budget(level, k, i);
    }
}

/* --- down ----------------------------------------------------------------- */

/* A change that a group has to pass on. */
struct change {
    uint64_t amount;
    int is_rise;
    int for_all; /* and not only for those that report */
};

static int takes_part(const struct power_node *node, const struct change *c)
{
    return c->for_all || reports(node);
}

static uint64_t room_of(const struct power_node *node, const struct change *c)
{
    if (!takes_part(node, c))
        return 0;
    return c->is_rise ? above(node->ceiling, node->limit)
                      : above(node->limit, node->floor);
}

/* What it needs for its progress stays the same. */
static void move(struct power_node *node,
                 const struct change *c,
                 uint64_t amount)
{
    double was = real(node->limit);

    node->limit += c->is_rise ? amount : -amount;
    if (was > 0)
        node->progress *= real(node->limit) / was;
}

static uint64_t clamped(double amount, uint64_t low, uint64_t high)
{
    if (!(amount > real(low)))
        return low;
    return amount < real(high) ? (uint64_t)(int64_t)amount : high;
}

/* In proportion to what each has, as far as there is room; sum: of what those
 * have that take part.  What is left: nothing, if there was room. */
static uint64_t share_by_limit(struct members m,
                               const struct change *c,
                               uint64_t sum)
{
    double part = sum > 0 ? real(c->amount) / real(sum) : 0;
    double due = 0.5; /* what was cut off before counts */
    uint64_t rest = c->amount;

    for (size_t i = 0; i < m.n; i++) {
        uint64_t most = room_of(&m.node[i], c), amount;

        if (most == 0)
            continue;
        due += part * real(m.node[i].limit);
        amount = clamped(due, 0, most < rest ? most : rest);
        if (amount > 0)
            move(&m.node[i], c, amount);
        rest -= amount;
        due = due - real(amount) < 1 ? due - real(amount) : 0;
    }
    return rest;
}

/* In proportion to the room, which must do for it, to the last step. */
static void share_by_room(struct members m, const struct change *c)
{
    uint64_t rest = c->amount, room = 0;

    for (size_t i = 0; i < m.n; i++)
        room += room_of(&m.node[i], c);
    for (size_t i = 0; i < m.n && rest > 0; i++) {
        uint64_t own = room_of(&m.node[i], c), amount;

        if (own == 0)
            continue;
        amount = clamped(real(rest) * (real(own) / real(room)),
                         above(rest, room - own), own < rest ? own : rest);
        if (amount > 0)
            move(&m.node[i], c, amount);
        rest -= amount;
        room -= own;
    }
}

static void share(struct members m, struct change c, uint64_t sum)
{
    c.amount = share_by_limit(m, &c, sum);
    if (c.amount > 0)
        share_by_room(m, &c);
}

static uint64_t limits_of(struct members m)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < m.n; i++)
        sum += reports(&m.node[i]) ? m.node[i].limit : 0;
    return sum;
}

static void pass_on(struct members m, uint64_t limit)
{
    uint64_t was = limits_of(m);

    if (limit > was)
        share(m, (struct change){.amount = limit - was, .is_rise = 1}, was);
    else if (limit < was)
        share(m, (struct change){.amount = was - limit}, was);
}

size_t power_levels_step(const struct power_rule *rule,
                         struct power_level level[],
                         size_t levels,
                         void *room)
{
    struct members top = top_of(level, levels);
    size_t changed = 0;

    for (size_t k = 1; k < levels; k++)
        sum_up(level, k);
    if (level[levels - 1].is_steered)
        changed = power_step(rule, top.node, top.n, room);
    for (size_t k = levels - 1; k > 0; k--) {
        for (size_t i = 0; i < level[k].n; i++) {
            struct members m = members_of(&level[k], &level[k - 1], i);

            if (!reports(&level[k].node[i]))
                continue;
            pass_on(m, level[k].node[i].limit);
            if (level[k - 1].is_steered)
                changed += power_step(rule, m.node, m.n, room);
        }
    }
    return changed;
}

/* --- budgets at the start ------------------------------------------------- */

/* The sums of all, whoever reports. */
static struct power_node all_of(struct members m)
{
    struct power_node all = {0};

    for (size_t i = 0; i < m.n; i++) {
        all.limit += m.node[i].limit;
        all.floor += m.node[i].floor;
    }
    return all;
}

static void lower(struct power_level level[], size_t k, size_t i, uint64_t by)
{
    struct members m = members_of(&level[k], &level[k - 1], i);

    if (by == 0)
        return;
    share(m, (struct change){.amount = by, .for_all = 1}, all_of(m).limit);
    for (size_t j = level[k].first[i]; k > 1 && j < level[k].first[i + 1]; j++)
        lower(level, k - 1, j,
              all_of(members_of(&level[k - 1], &level[k - 2], j)).limit
                  - level[k - 1].node[j].limit);
}

static size_t fit_level(struct power_level level[], size_t k)
{
    size_t above_budget = 0;

    for (size_t i = 0; i < level[k].n; i++) {
        struct power_node *group = &level[k].node[i];
        uint64_t budget = budget_of(&level[k], i), was;

        *group = all_of(members_of(&level[k], &level[k - 1], i));
        was = group->limit;
        if (budget == 0 || was <= budget)
            continue;
        above_budget += group->floor > budget;
        group->limit = group->floor > budget ? group->floor : budget;
        lower(level, k, i, was - group->limit);
    }
    return above_budget;
}

size_t power_levels_fit(struct power_level *level, size_t levels)
{
    size_t above_budget = 0;

    for (size_t k = 1; k < levels; k++)
        above_budget += fit_level(level, k);
    return above_budget;
}
