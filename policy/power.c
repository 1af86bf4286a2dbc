/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/power.h"
#include "policy/aggregate.h"
#include "policy/order.h"
#include "policy/power_save.h"

#include <math.h>

#define KEY_ONE 0x1p52 /* the key of a fraction of 1, to sort by */

struct room { /* n of each, behind one another */
    double *value;
    int64_t *key;
    uint32_t *index, *scratch;
};

static struct room room_of(void *at, size_t n)
{
    struct room r = {.value = at};

    r.key = (int64_t *)(void *)(r.value + n);
    r.index = (uint32_t *)(void *)(r.key + n);
    r.scratch = r.index + n;
    return r;
}

size_t power_bytes(size_t n)
{
    return n * (sizeof(double) + sizeof(int64_t) + 2 * sizeof(uint32_t));
}

static int reports(const struct power_node *node)
{
    return isfinite(node->progress) && node->progress > 0;
}

static double highest_progress(const struct power_node node[], size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        if (reports(&node[i]) && node[i].progress > most)
            most = node[i].progress;
    return most;
}

/* The fractions of those that report; how many. */
static size_t fractions(const struct power_node node[],
                        size_t n,
                        double fraction[])
{
    double most = highest_progress(node, n);
    size_t k = 0;

    for (size_t i = 0; i < n; i++)
        if (reports(&node[i]))
            fraction[k++] = node[i].progress / most;
    return k;
}

double power_skew(const struct power_node node[], size_t n, void *at)
{
    struct room room = room_of(at, n);
    size_t k = fractions(node, n, room.value);

    return aggregate_of(AGGREGATE_SKEW, room.value, k);
}

/* Step 4: those that report, the fastest first, by their fractions, which are in
 * the room's values; how many. */
static size_t sort(const struct power_node node[],
                   size_t n,
                   const struct room *room)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        if (!reports(&node[i]))
            continue;
        room->key[i] = (int64_t)(room->value[k] * KEY_ONE);
        room->index[k++] = (uint32_t)i;
    }
    order_descending(room->index, room->scratch, k, room->key);
    return k;
}

static double median_of(const struct power_node node[],
                        const uint32_t by_progress[],
                        size_t k)
{
    return node[by_progress[(k - 1) / 2]].progress / 2
           + node[by_progress[k / 2]].progress / 2;
}

/* The limit per progress: what a node needs to keep up. */
static double need(const struct power_node *node)
{
    return (double)node->limit / node->progress;
}

/* A whole number of steps, at most what is left. */
static uint64_t whole(double amount, uint64_t left)
{
    if (!(amount >= 1))
        return 0;
    return amount < (double)left ? (uint64_t)amount : left;
}

static uint64_t least_of_two(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int is_full(const struct power_node *node)
{
    return node->limit == node->ceiling;
}

/* --- pairs ---------------------------------------------------------------- */

static int steer_pair(const struct power_rule *rule,
                      struct power_node *fast,
                      struct power_node *slow)
{
    double sum = (double)fast->limit + (double)slow->limit;
    double goal = sum * need(slow) / (need(slow) + need(fast));
    uint64_t left =
        least_of_two(fast->limit - fast->floor, slow->ceiling - slow->limit);
    uint64_t amount = whole(rule->gain * (goal - (double)slow->limit), left);

    fast->limit -= amount;
    slow->limit += amount;
    return amount > 0;
}

static int is_within(double progress, double median, double band)
{
    return fabs(progress - median) <= band * median;
}

static size_t steer_pairs(const struct power_rule *rule,
                          struct power_node node[],
                          const uint32_t by_progress[],
                          size_t k,
                          double median)
{
    size_t i = 0, j = k - 1, changed = 0;

    while (i < j) {
        struct power_node *fast = &node[by_progress[i]];
        struct power_node *slow = &node[by_progress[j]];

        if (is_within(fast->progress, median, rule->band)
            && is_within(slow->progress, median, rule->band))
            break; /* and so are all that follow */
        if (fast->limit == fast->floor) {
            i++; /* has nothing to give; another may */
        } else if (is_full(slow)) {
            j--;
        } else {
            changed += 2 * (size_t)steer_pair(rule, fast, slow);
            i++;
            j--;
        }
    }
    return changed;
}

/* --- boost the slowest ---------------------------------------------------- */

struct donors {
    const uint32_t *node; /* by progress, so the donors are the first */
    size_t n;
    double goal;    /* limit / need at which all of them and the slowest meet */
    double surplus; /* what they have above that, together */
};

static double surplus_of(const struct power_node *node, double goal)
{
    return fmax(0, (double)node->limit - goal * need(node));
}

static struct donors find_donors(const struct power_node node[],
                                 const uint32_t by_progress[],
                                 size_t k,
                                 double median)
{
    const struct power_node *slow = &node[by_progress[k - 1]];
    struct donors d = {.node = by_progress};
    double limits = (double)slow->limit, needs = need(slow);

    for (; d.n < k - 1 && node[by_progress[d.n]].progress >= median; d.n++) {
        limits += (double)node[by_progress[d.n]].limit;
        needs += need(&node[by_progress[d.n]]);
    }
    d.goal = limits / needs;
    for (size_t i = 0; i < d.n; i++)
        d.surplus += surplus_of(&node[by_progress[i]], d.goal);
    return d;
}

static size_t boost_slowest(const struct power_rule *rule,
                            struct power_node node[],
                            const uint32_t by_progress[],
                            size_t k,
                            double median)
{
    struct power_node *slow = &node[by_progress[k - 1]];
    struct donors d = find_donors(node, by_progress, k, median);
    uint64_t left = slow->ceiling - slow->limit, given = 0;
    double wish = d.goal * need(slow) - (double)slow->limit;
    double amount = fmin(rule->gain * wish, (double)left);
    size_t changed = 0;

    for (size_t i = 0; i < d.n && d.surplus > 0; i++) {
        struct power_node *donor = &node[d.node[i]];
        double part = amount * (surplus_of(donor, d.goal) / d.surplus);
        uint64_t give = whole(
            part, least_of_two(donor->limit - donor->floor, left - given));

        donor->limit -= give;
        given += give;
        changed += give > 0;
    }
    slow->limit += given;
    return changed + (given > 0);
}

/* --- the step ------------------------------------------------------------- */

size_t power_step(const struct power_rule *rule,
                  struct power_node node[],
                  size_t n,
                  void *at)
{
    struct room room = room_of(at, n);
    double median;
    size_t k;

    if (rule->variant == POWER_SAVE)
        return power_save_step(rule, node, n);
    if (rule->variant == POWER_OFF
        || power_skew(node, n, at) <= rule->bound) /* step 3 */
        return 0;
    k = sort(node, n, &room);
    median = median_of(node, room.index, k);
    if (rule->variant == POWER_PAIR)
        return steer_pairs(rule, node, room.index, k, median);
    while (k > 2 && is_full(&node[room.index[k - 1]]))
        k--; /* the next that can be helped */
    return boost_slowest(rule, node, room.index, k, median);
}
