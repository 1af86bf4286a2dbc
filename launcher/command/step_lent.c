/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/step_lent.h"
#include "policy/lending.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define NS 1e9

struct lent {
    double borrowed;     /* CPU ns, of all ranks */
    double sooner;       /* ns, of the rank that gained most */
    uint32_t rank, most; /* ranks that have borrowed; the first of these */
};

/* What a rank had on borrowed CPUs it would have had to do on its own. */
static void add_rank(struct lent *l,
                     const struct step_node *node,
                     const struct step_rank *r)
{
    double own = node->n > 0 ? floor(node->cpus / node->n) : 1;

    if (!(r->borrowed > 0))
        return;
    if (l->rank++ == 0)
        l->most = r->rank;
    l->borrowed += r->borrowed;
    l->sooner = fmax(l->sooner, r->borrowed / fmax(own, 1));
}

/* The length of a region, as the ranks of a node have ended most of them. */
static double region_ns(const struct step_times *t)
{
    double regions = 0, elapsed = 0;

    for (size_t i = 0; i < t->n; i++) {
        regions = fmax(regions, t->node[i].sum.regions);
        elapsed = fmax(elapsed, t->node[i].sum.elapsed);
    }
    return regions > 0 ? elapsed / regions : HUGE_VAL;
}

static void none_text(const struct step_times *t, char line[STEP_LENT_LINE])
{
    double ns = region_ns(t);

    if (ns < (double)LENDING_REGION_NS)
        snprintf(line, STEP_LENT_LINE,
                 "--evenstep-lend moved nothing: a region took %.3g ms, and "
                 "lending gains from %.0f ms on",
                 ns / 1e6, LENDING_REGION_NS / 1e6);
    else
        snprintf(line, STEP_LENT_LINE,
                 "--evenstep-lend moved nothing: no rank had more OpenMP "
                 "threads than CPUs while another one of its node waited: set "
                 "OMP_NUM_THREADS above the CPUs of a rank (-c)");
}

int step_lent_text(const struct step_times *t,
                   int is_asked,
                   char line[STEP_LENT_LINE])
{
    struct lent l = {.rank = 0};
    char others[48] = "";

    if (!step_times_is_alive(t))
        return 0;
    for (size_t i = 0; i < t->n; i++)
        for (uint32_t k = 0; k < t->node[i].n; k++)
            add_rank(&l, &t->node[i], &t->node[i].rank[k]);
    if (l.rank == 0 && is_asked)
        none_text(t, line);
    if (l.rank == 0)
        return is_asked;
    if (l.rank > 1)
        snprintf(others, sizeof others, " and %" PRIu32 " more", l.rank - 1);
    snprintf(line, STEP_LENT_LINE,
             "lent: rank %" PRIu32
             "%s had %.3g CPU-seconds on CPUs of ranks that waited; one was "
             "done up to %.3g s sooner",
             l.most, others, l.borrowed / NS, l.sooner / NS);
    return 1;
}
