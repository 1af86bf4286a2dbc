/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a node, or all, are no longer as they were.
 */
#include "policy/cost_state.h"
#include "policy/select.h"

#include <string.h>

/* Errors of so many deviations, twice in a row at a node or once at most of
 * them, are a change. */
#define CHANGED     4
#define RATIO_MOST  1e6 /* of a speed to what was told */
#define NODES_LEAST 3   /* that can tell that all have changed */
/* After all has changed. */
#define CHANGE_LOOSE 0.7
/* Units that are dearer by this are no change where CPU time tells. */
#define DEAR 0.15

/* How a node's piece is off, in deviations; above 0 is slower than expected ... */
typedef double error_fn(const struct cost *c, size_t node, size_t piece);

/* ... of what its units cost on this node; where CPU time tells what the node
 * does, units may well be dearer than was thought ... */
static double error_of_units(const struct cost *c, size_t node, size_t piece)
{
    const struct cost_node *n = &c->problem.node[node];
    const struct cost_piece *p = &n->piece[piece];
    double error =
        cost_error(&c->problem, p, cost_predict_now(c, node, p->work));

    return cost_cpu_tells(&c->problem.cpu, n, p)
               ? error * fmin(1, c->problem.noise / DEAR)
               : error;
}

/* ... and besides of what its CPU time should have taken, if that tells. */
static double error_of_node(const struct cost *c, size_t node, size_t piece)
{
    const struct cost_node *n = &c->problem.node[node];
    const struct cost_piece *p = &n->piece[piece];
    double units = error_of_units(c, node, piece), cpu = 0;

    if (cost_cpu_tells(&c->problem.cpu, n, p))
        cpu = cost_cpu_error(&c->problem.cpu, n, p);
    return fabs(cpu) > fabs(units) ? cpu : units;
}

/* Of a node's last pieces, how many are off by more than `most` in a direction,
 * 1: slower, or -1. */
static size_t last_off(const struct cost *c,
                       size_t node,
                       error_fn *error,
                       double sign,
                       double most)
{
    size_t n = c->problem.node[node].n, off = 0;

    while (off < n && sign * error(c, node, n - 1 - off) > most)
        off++;
    return off;
}

static void keep_last(struct cost_node *n, size_t keep)
{
    cost_drop(n, 0, n->n - keep);
}

/* A node's speed by its last piece, against what it was. */
static double last_ratio(const struct cost *c, size_t i)
{
    const struct cost_node *n = &c->problem.node[i];
    const struct cost_piece *p = &n->piece[n->n - 1];
    double wait = c->now.term[COST_WAIT];
    double work = cost_predict_now(c, i, p->work) - wait;

    return work / fmax(p->seconds - wait, work / 8);
}

/*
 * A node whose last piece is far too slow may be slow from now on: to believe
 * that in vain costs little, not to believe it much.  So what it did before
 * counts for less.  One whose last two are off has changed.  Says whether any
 * has to be looked at anew.
 */
int cost_nodes_changed(struct cost *c)
{
    int changed = 0;

    for (size_t i = 0; i < c->problem.nodes; i++) {
        struct cost_node *n = &c->problem.node[i];
        size_t slow = last_off(c, i, error_of_node, 1, CHANGED);
        size_t off =
            slow > 0 ? slow : last_off(c, i, error_of_node, -1, CHANGED);

        if (off == n->n || (off < 2 && (slow == 0 || n->is_trusted)))
            continue;
        changed = 1;
        n->is_trusted = 1;
        n->is_doubted = off < 2;
        if (off < 2)
            continue;
        n->believed =
            fmin(fmax(n->believed * last_ratio(c, i), n->told / RATIO_MOST),
                 n->told * RATIO_MOST);
        keep_last(n, off);
    }
    return changed;
}

int cost_drop_doubted(struct cost *c)
{
    int are = 0;

    for (size_t i = 0; i < c->problem.nodes; i++) {
        struct cost_node *n = &c->problem.node[i];

        if (!n->is_doubted)
            continue;
        cost_drop(n, n->n - 1, 1);
        n->is_trusted = n->is_doubted = 0;
        are = 1;
    }
    return are;
}

/* How far the last pieces of the nodes are off, as a rule; 0 if that is no
 * more than chance. */
static double all_off(struct cost *c)
{
    double off;
    size_t n = 0;

    for (size_t i = 0; i < c->problem.nodes; i++)
        if (c->problem.node[i].n > 1)
            c->scratch[n++] = error_of_units(c, i, c->problem.node[i].n - 1);
    if (n < NODES_LEAST)
        return 0;
    off = select_median(c->scratch, n);
    return fabs(off) > 1 + CHANGED / sqrt((double)n) ? off : 0;
}

/* By what factor the last pieces are off. */
static double factor_off(struct cost *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->problem.nodes; i++) {
        const struct cost_node *node = &c->problem.node[i];
        const struct cost_piece *p;

        if (node->n == 0)
            continue;
        p = &node->piece[node->n - 1];
        c->scratch[n++] = p->seconds / cost_predict_now(c, i, p->work);
    }
    return select_median(c->scratch, n);
}

/* If all has changed, pieces that do not say so are of another time, and the
 * terms have all grown or shrunk alike, as far as is known.  The speeds
 * stay as they were before.
 */
int cost_all_changed(struct cost *c)
{
    struct cost_problem *p = &c->problem;
    double off = all_off(c), factor;

    if (!(fabs(off) > 0))
        return 0;
    factor = factor_off(c);
    for (size_t i = 0; i < p->nodes; i++)
        keep_last(&p->node[i], last_off(c, i, error_of_units, off < 0 ? -1 : 1,
                                        fabs(off) / 2));
    cost_guess_copy(&c->now, &c->before, c);
    for (size_t i = 0; i < p->nodes; i++) {
        p->node[i].believed = cost_speed_now(c, i);
        p->node[i].loose = c->noise;
        p->node[i].is_trusted = p->node[i].is_doubted = 0;
    }
    c->expected.n = 0;
    memset(c->now.group, 0, p->groups * sizeof *c->now.group);
    memset(c->now.own, 0, p->nodes * sizeof *c->now.own);
    for (int i = 0; i < COST_TERMS; i++)
        p->believed[i] = c->now.term[i] *= factor;
    p->loose = CHANGE_LOOSE;
    return 1;
}
