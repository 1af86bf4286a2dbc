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

/* Of the waiting, that which the most useful time does not explain is nobody's
 * fault.  Who waits least is the busiest, or so near that it does not matter. */
struct efficiency_lost efficiency_lost_in(const struct efficiency_sum *all)
{
    double waited = all->waiting - all->ranks * all->least;
    double worked = fmax(all->ranks * all->most - all->useful, 0);
    struct efficiency_lost lost = {0};

    lost.by_work = waited < worked / 2;
    lost.ranks = worked;
    lost.nodes = fmax(all->nodes * all->most - all->n_useful, 0);
    if (2 * worked < waited)
        lost.ranks = lost.nodes = 0;
    return lost;
}

/* --- factor by factor ----------------------------------------------------- */

struct efficiency_tree efficiency_tree_of(const struct efficiency_sum *all,
                                          double nodes,
                                          double transfer)
{
    struct efficiency_tree t = {{1, 1, 1, 1, 1}, {0}};
    struct efficiency e = efficiency_of(all);
    double left = all->ranks * all->elapsed, mean;
    double *f = t.factor;
    static const enum efficiency_factor order[] = {
        EFFICIENCY_TRANSFER, EFFICIENCY_SERIALISATION, EFFICIENCY_NODES,
        EFFICIENCY_WITHIN, EFFICIENCY_THREADS};

    if (all->ranks == 0 || left <= 0)
        return t;
    mean = all->useful / all->ranks;
    f[EFFICIENCY_TRANSFER] =
        fmax(1 - fmax(transfer, 0) / left, e.communication);
    f[EFFICIENCY_SERIALISATION] =
        e.communication > 0 ? e.communication / f[EFFICIENCY_TRANSFER] : 0;
    if (nodes > 0)
        f[EFFICIENCY_NODES] = fmin(fmax(mean / nodes, e.balance), 1);
    f[EFFICIENCY_WITHIN] = e.balance / f[EFFICIENCY_NODES];
    f[EFFICIENCY_THREADS] = e.threads;
    for (size_t i = 0; i < EFFICIENCY_FACTORS; i++) {
        t.lost[order[i]] = left * (1 - f[order[i]]);
        left *= f[order[i]];
    }
    return t;
}
