/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/power_save.h"

#include <math.h>

static int reports(const struct power_node *node)
{
    return isfinite(node->progress) && node->progress > 0 && node->limit > 0;
}

/* Rule 1; infinite if nobody reports. */
static double pace_of(const struct power_node node[], size_t n)
{
    double known = INFINITY, thought = INFINITY;

    for (size_t i = 0; i < n; i++) {
        const struct power_node *p = &node[i];

        if (!reports(p))
            continue;
        if (p->limit == p->ceiling)
            known = fmin(known, p->progress);
        thought =
            fmin(thought, p->progress * (double)p->ceiling / (double)p->limit);
    }
    return isfinite(known) ? known : thought;
}

static uint64_t within(const struct power_node *node, double limit)
{
    if (!(limit > (double)node->floor))
        return node->floor;
    return limit < (double)node->ceiling ? (uint64_t)limit : node->ceiling;
}

/* Rules 2 and 3. */
static uint64_t limit_for(const struct power_rule *rule,
                          const struct power_node *node,
                          double pace)
{
    double limit = (double)node->limit;
    double ahead = node->progress / (pace * (1 + POWER_SAVE_MARGIN)) - 1;

    if (fabs(ahead) <= POWER_SAVE_MARGIN / 2)
        return node->limit;
    if (ahead > 0)
        return within(node, limit * (1 - rule->gain * ahead / (1 + ahead)));
    return within(node, ceil(limit / (1 + ahead)));
}

size_t power_save_step(const struct power_rule *rule,
                       struct power_node node[],
                       size_t n)
{
    double pace = pace_of(node, n);
    size_t changed = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t limit;

        if (!reports(&node[i]))
            continue;
        limit = limit_for(rule, &node[i], pace);
        changed += limit != node[i].limit;
        node[i].limit = limit;
    }
    return changed;
}
