/* SPDX-License-Identifier: BSD-2-Clause */
/* What the times of a step say, all in all: its factors, and the verdict. */
#include "launcher/session/step_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double step_times_scale(const struct step_times *t,
                        const struct efficiency_sum *all)
{
    return t->weight > 0 ? fmax(all->regions / t->weight, 1) : 0;
}

/* --- who made the others wait --------------------------------------------- */

static double balance_lost(const struct step_summary *s)
{
    return s->tree.lost[EFFICIENCY_NODES] + s->tree.lost[EFFICIENCY_WITHIN];
}

/* All in all: what no region has is of the time after the last one. */
static void find_worst_of_sums(const struct step_times *t,
                               struct step_summary *s)
{
    s->last = 0;
    s->lost_ranks_ns = balance_lost(s);
    s->lost_nodes_ns = fmax(s->all.nodes * s->all.most - s->all.n_useful, 0);
    for (size_t i = 0; i < t->n; i++)
        if (t->node[i].sum.ranks > 0 && step_times_counts(t, i)
            && t->node[i].sum.most == s->all.most) {
            s->worst = i;
            return;
        }
}

/* A node that is lost, too, by the regions until then. */
static void find_worst(const struct step_times *t,
                       struct step_summary *s,
                       double regional)
{
    double scale = step_times_scale(t, &s->all);
    const struct step_node *worst;

    while (s->worst + 1 < t->n && !step_times_counts(t, s->worst))
        s->worst++;
    for (size_t i = 0; i < t->n; i++)
        if (t->node[i].lost.ranks > t->node[s->worst].lost.ranks)
            s->worst = i;
    worst = &t->node[s->worst];
    s->last = scale * worst->last;
    s->lost_ranks_ns = scale * worst->lost.ranks;
    s->lost_nodes_ns = scale * worst->lost.nodes;
    if (4 * regional < 3 * balance_lost(s))
        find_worst_of_sums(t, s);
}

/* Of all regions, how much was waited in them for who was late. */
static double regional_of(const struct step_times *t,
                          const struct step_summary *s)
{
    double sum = 0;

    for (size_t i = 0; i < t->n; i++)
        sum += t->node[i].lost.ranks;
    return step_times_scale(t, &s->all) * sum;
}

static double most_last(const struct step_times *t)
{
    double most = 0;

    for (size_t i = 0; i < t->n; i++) {
        const struct step_node *node = &t->node[i];

        if (node->n == 0)
            most = fmax(most, node->last);
        for (uint32_t k = 0; k < node->n; k++)
            most = fmax(most, node->rank[k].last);
    }
    return t->weight > 0 ? most / t->weight : 0;
}

/* --- the verdict ---------------------------------------------------------- */

/* Is each rank of the node known? */
static int is_each(const struct step_node *node)
{
    return node->n > 0 && node->n >= node->sum.ranks;
}

/* What a lost node would have told by now, had it gone on as it was. */
static double gone_on(const struct step_times *t,
                      size_t i,
                      const struct efficiency_sum *all)
{
    double elapsed = t->node[i].sum.elapsed;

    return step_times_counts(t, i) || elapsed <= 0 ? 1 : all->elapsed / elapsed;
}

static size_t add_ranks(const struct step_times *t,
                        size_t i,
                        const struct efficiency_sum *all,
                        struct verdict_rank to[])
{
    const struct step_node *node = &t->node[i];
    double scale = gone_on(t, i, all);

    if (!is_each(node)) {
        *to = (struct verdict_rank){.rank = node->sum.busiest,
                                    .node = i,
                                    .useful = scale * node->sum.n_useful,
                                    .waiting = scale * node->sum.n_wait};
        return 1;
    }
    for (uint32_t k = 0; k < node->n; k++) {
        const struct step_rank *r = &node->rank[k];

        to[k] = (struct verdict_rank){.rank = r->rank,
                                      .node = i,
                                      .useful = scale * r->useful,
                                      .waiting = scale * r->waiting,
                                      .io = scale * r->io,
                                      .cpu = scale * r->cpu,
                                      .delay = scale * r->delay,
                                      .throttled = scale * r->throttled,
                                      .io_wait = scale * r->io_wait};
    }
    return node->n;
}

static size_t rows_of(const struct step_times *t)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++)
        n += is_each(&t->node[i]) ? t->node[i].n : 1;
    return n;
}

/* How much was waited for that. */
static void weigh(struct step_summary *s, double regional)
{
    const struct verdict *v = &s->verdict;
    double messages = s->tree.lost[EFFICIENCY_SERIALISATION]
                      + s->tree.lost[EFFICIENCY_TRANSFER];

    if (v->cause == VERDICT_MOVES)
        s->lost_ranks_ns = regional;
    else if (v->by_mpi || v->cause == VERDICT_SERIALISATION
             || v->cause == VERDICT_TRANSFER)
        s->lost_ranks_ns = messages;
    if (v->by_mpi) {
        s->last = 0;
        s->lost_nodes_ns = messages / s->all.ranks * s->all.nodes;
    }
}

static void judge(const struct step_times *t,
                  const double speed[],
                  struct verdict_rank rank[],
                  struct verdict_node node[],
                  double scratch[],
                  struct step_summary *s)
{
    struct verdict_in in = {.rank = rank,
                            .node = node,
                            .nodes = t->n,
                            .all = &s->all,
                            .tree = s->tree,
                            .noise = VERDICT_NOISE,
                            .regional = regional_of(t, s),
                            .most_last = s->most_last,
                            .worst = s->worst,
                            .scratch = scratch};

    for (size_t i = 0; i < t->n; i++) {
        const struct step_node *of = &t->node[i];

        node[i] = (struct verdict_node){.speed = speed ? speed[i] : 0,
                                        .others_cpu = of->others_cpu,
                                        .own_cpu = of->own_cpu,
                                        .throttled = of->node_throttled,
                                        .cpus = of->cpus};
        if (of->sum.ranks > 0 && (step_times_counts(t, i) || i == s->worst))
            in.n += add_ranks(t, i, &s->all, rank + in.n);
    }
    s->rank = t->node[s->worst].sum.busiest;
    s->verdict = verdict_of(&in);
    if (verdict_is_late(&s->verdict) || s->verdict.cause == VERDICT_LESS) {
        s->worst = s->verdict.node;
        s->rank = s->verdict.rank;
    }
    weigh(s, in.regional);
}

/* --- all of it ------------------------------------------------------------ */

/* Sums of those that count, and the most that ranks of a node have. */
static double add_nodes(const struct step_times *t, struct step_summary *s)
{
    double most = 0;

    for (size_t i = 0; i < t->n; i++)
        if (step_times_counts(t, i)) {
            efficiency_add_node(&s->all, &t->node[i].sum);
            most = fmax(most, t->node[i].sum.n_useful);
        }
    return most;
}

/* rank-ns of messages between two, beside what regions tell. */
static double transfer_of(const struct step_times *t)
{
    double sum = 0;

    for (size_t i = 0; i < t->n; i++)
        for (uint32_t k = 0; step_times_counts(t, i) && k < t->node[i].n; k++)
            sum += t->node[i].rank[k].transfer;
    return sum;
}

static double unsure_of(const struct step_times *t)
{
    double most = 0;

    for (size_t i = 0; i < t->n; i++)
        for (uint32_t k = 0; k < t->node[i].n; k++) {
            const struct step_rank *r = &t->node[i].rank[k];
            double all = r->useful + r->waiting;

            if (all > 0)
                most = fmax(most, fmin(r->unsure / all, 1));
        }
    return most;
}

int step_times_sum(const struct step_times *t,
                   const double speed[],
                   struct step_summary *s)
{
    size_t n = rows_of(t);
    struct verdict_rank *rank = calloc(n, sizeof *rank);
    struct verdict_node *node = calloc(t->n, sizeof *node);
    double *scratch = calloc(n + t->n, sizeof *scratch), nodes;

    memset(s, 0, sizeof *s);
    if (rank && node && scratch) {
        nodes = add_nodes(t, s);
        s->efficiency = efficiency_of(&s->all);
        s->tree = efficiency_tree_of(&s->all, nodes,
                                     step_times_scale(t, &s->all) * t->transfer
                                         + transfer_of(t));
        s->iterations = step_loops_sum(&t->loops);
        s->most_last = most_last(t);
        s->unsure = unsure_of(t);
        if (t->weight > 0) {
            s->skew_ns = step_sample_median(&t->skew);
            s->skew_most_ns = t->skew_most;
            find_worst(t, s, regional_of(t, s));
        } else {
            find_worst_of_sums(t, s);
        }
        if (s->all.regions > 0)
            s->region_ns = s->all.elapsed / s->all.regions;
        judge(t, speed, rank, node, scratch, s);
    }
    n = rank && node && scratch;
    free(rank);
    free(node);
    free(scratch);
    return n ? 0 : -1;
}
