/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/power_need.h"

#include <math.h>

#define MOST  8.0  /* rounds, so that a slow change is followed */
#define MOVED 0.1  /* of a limit: what was before does not count any more */
#define FAR   2.0  /* times the spread */
#define FIRST 0.03 /* spread */
#define LEAST 0.002
#define CLIP  3.0 /* times the spread: what is further off counts as that */

static int reports(const struct power_node *node)
{
    return isfinite(node->progress) && node->progress > 0 && node->limit > 0;
}

static double seen(const struct power_node *node)
{
    return log((double)node->limit / node->progress);
}

static void age(struct power_need *need, const struct power_node *node)
{
    double moved = fabs(log((double)node->limit) - need->at);

    need->weight *= fmax(0, 1 - moved / MOVED);
}

/* By how much all are off alike. */
static double common(const struct power_need need[],
                     const struct power_node node[],
                     size_t n)
{
    double off = 0, weight = 0;

    for (size_t i = 0; i < n; i++)
        if (reports(&node[i])) {
            off += need[i].weight * (seen(&node[i]) - need[i].need);
            weight += need[i].weight;
        }
    return weight > 0 ? off / weight : 0;
}

/* Has the program changed? */
static int note_off(struct power_need *need, double off)
{
    double usual = need->spread > 0 ? need->spread : FIRST;
    int side = (off > FAR * usual) - (off < -FAR * usual);
    int again = side != 0 && side == need->side;

    need->spread =
        fmax(LEAST, usual + (fmin(fabs(off), CLIP * usual) - usual) / MOST);
    need->side = side;
    return again;
}

static void add(struct power_need *need, double value, double at)
{
    if (!(need->weight > 0) || note_off(need, value - need->need))
        need->weight = 0;
    need->weight = fmin(need->weight + 1, MOST);
    need->need += (value - need->need) / need->weight;
    need->at += (at - need->at) / need->weight;
}

void power_need_steady(struct power_need need[],
                       struct power_node node[],
                       size_t n)
{
    double off;

    for (size_t i = 0; i < n; i++)
        if (reports(&node[i]))
            age(&need[i], &node[i]);
    off = common(need, node, n);
    for (size_t i = 0; i < n; i++)
        if (reports(&node[i])) {
            add(&need[i], seen(&node[i]) - off, log((double)node[i].limit));
            node[i].progress = (double)node[i].limit / exp(need[i].need);
        }
}
