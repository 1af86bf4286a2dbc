/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/efficiency.h"

#include <math.h>

/* --- sums ----------------------------------------------------------------- */

static void take_most(struct efficiency_sum *s, uint32_t rank, double most)
{
    if (s->ranks > 0 && most <= s->most)
        return;
    s->most = most;
    s->busiest = rank;
}

static void take_least(struct efficiency_sum *s, uint32_t rank, double least)
{
    if (s->ranks > 0 && least >= s->least)
        return;
    s->least = least;
    s->last = rank;
}

void efficiency_add_rank(struct efficiency_sum *s,
                         uint32_t rank,
                         double useful,
                         double waiting)
{
    take_most(s, rank, useful);
    take_least(s, rank, waiting);
    s->longest = fmax(s->longest, waiting);
    s->elapsed = fmax(s->elapsed, useful + waiting);
    s->useful += useful;
    s->waiting += waiting;
    s->ranks++;
    s->nodes = 1;
    s->n_useful = s->useful / s->ranks;
    s->n_wait = s->waiting / s->ranks;
}

void efficiency_add_threads(struct efficiency_sum *s,
                            uint32_t threads,
                            double busy,
                            double room)
{
    s->threads += threads;
    s->busy += fmin(busy, room);
    s->room += room;
}

void efficiency_add_node(struct efficiency_sum *all,
                         const struct efficiency_sum *node)
{
    if (node->ranks == 0)
        return;
    take_most(all, node->busiest, node->most);
    take_least(all, node->last, node->least);
    all->longest = fmax(all->longest, node->longest);
    all->elapsed = fmax(all->elapsed, node->elapsed);
    all->useful += node->useful;
    all->waiting += node->waiting;
    all->calls += node->calls;
    all->regions = fmax(all->regions, node->regions);
    all->ranks += node->ranks;
    all->threads += node->threads;
    all->busy += node->busy;
    all->room += node->room;
    all->nodes += node->nodes;
    all->n_useful += node->n_useful;
    all->n_wait += node->n_wait;
}

struct efficiency efficiency_of(const struct efficiency_sum *s)
{
    struct efficiency e = {0};

    if (s->ranks == 0 || s->elapsed <= 0)
        return e;
    e.balance = s->most > 0 ? fmin(s->useful / s->ranks / s->most, 1) : 1;
    e.communication = fmin(s->most / s->elapsed, 1);
    e.threads = s->room > 0 ? fmin(s->busy / s->room, 1) : 1;
    e.parallel = e.balance * e.communication * e.threads;
    return e;
}

/* --- who waited for whom -------------------------------------------------- */

struct efficiency_lost efficiency_lost_in(const struct efficiency_sum *all)
{
    double waited = all->waiting - all->ranks * all->least;
    double worked = all->ranks * all->most - all->useful;
    struct efficiency_lost lost = {.by_work = waited < worked / 2};

    if (lost.by_work) {
        lost.ranks = worked;
        lost.nodes = all->nodes * all->most - all->n_useful;
    } else {
        lost.ranks = fmax(waited, 0);
        lost.nodes = all->n_wait - all->nodes * all->least;
    }
    lost.nodes = fmax(lost.nodes, 0);
    return lost;
}

/* --- why ------------------------------------------------------------------ */

/* The mean useful time of the ranks of all nodes but one. */
static double useful_elsewhere(const struct efficiency_sum node[],
                               size_t n,
                               size_t who)
{
    double useful = 0, ranks = 0;

    for (size_t i = 0; i < n; i++)
        if (i != who) {
            useful += node[i].useful;
            ranks += node[i].ranks;
        }
    return ranks > 0 ? useful / ranks : 0;
}

/* The speed of a node as a multiple of the mean of the others that have ranks;
 * 0 if it is not known of all of them. */
static double relative_speed(const struct efficiency_sum node[],
                             const double speed[],
                             size_t n,
                             size_t who)
{
    double sum = 0, others = 0;

    if (!speed || !(speed[who] > 0))
        return 0;
    for (size_t i = 0; i < n; i++) {
        if (i == who || node[i].ranks == 0)
            continue;
        if (!(speed[i] > 0))
            return 0;
        sum += speed[i];
        others++;
    }
    return others > 0 ? speed[who] / (sum / others) : 0;
}

static enum efficiency_cause cause_of(const struct efficiency_reason *r)
{
    double slow = r->speed > 0 ? 1 / r->speed : 1;

    if (fmax(r->longer, r->apart) <= EFFICIENCY_ALIKE)
        return EFFICIENCY_EVEN;
    if (r->speed <= 0 || r->longer <= EFFICIENCY_ALIKE)
        return r->apart >= r->longer ? EFFICIENCY_RANK_WORK : EFFICIENCY_NODE;
    slow = fmin(slow, r->longer); /* it explains no more than there is */
    if (r->apart >= fmax(slow, r->longer / slow))
        return EFFICIENCY_RANK_WORK;
    return slow >= r->longer / slow ? EFFICIENCY_SLOW_NODE
                                    : EFFICIENCY_NODE_WORK;
}

struct efficiency_reason efficiency_judge(const struct efficiency_sum node[],
                                          const double speed[],
                                          size_t n,
                                          size_t who)
{
    const struct efficiency_sum *s = &node[who];
    struct efficiency_reason r = {EFFICIENCY_EVEN, 1, 1, 0};
    double here =
        s->ranks > 1 ? (s->useful - s->most) / (s->ranks - 1) : s->useful;
    double elsewhere = useful_elsewhere(node, n, who);

    if (s->ranks > 1 && here > 0)
        r.apart = s->most / here;
    if (s->ranks > 0 && elsewhere > 0 && here > 0)
        r.longer = here / elsewhere;
    r.speed = relative_speed(node, speed, n, who);
    r.cause = cause_of(&r);
    return r;
}
