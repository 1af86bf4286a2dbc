/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/account.h"
#include "policy/level.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The time that pieces cover, one after the other, each second once. */
struct cover {
    double end, seconds;
};

struct node {
    double commands, units, ran; /* of those that count; ran: all seconds */
    struct cover running;        /* in which a command ran that counts */
    struct cover at_work;        /* or one that does not */
    struct cover out;            /* or it had a piece */
};

struct account {
    size_t nodes;
    struct node *node;
    double *lag;   /* that its starts wait longer than others' */
    double *free;  /* that, lowered as the costs are: when it is, at best */
    double *equal; /* parts of the work */
    int is_split;
};

struct account *account_create(size_t nodes)
{
    struct account *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->nodes = nodes;
    a->node = calloc(nodes, sizeof *a->node);
    a->lag = calloc(nodes, sizeof *a->lag);
    a->free = calloc(nodes, sizeof *a->free);
    a->equal = calloc(nodes, sizeof *a->equal);
    if (a->node && a->lag && a->free && a->equal)
        return a;
    account_destroy(a);
    return NULL;
}

void account_destroy(struct account *a)
{
    if (!a)
        return;
    free(a->node);
    free(a->lag);
    free(a->free);
    free(a->equal);
    free(a);
}

void account_clear(struct account *a)
{
    memset(a->node, 0, a->nodes * sizeof *a->node);
}

void account_split(struct account *a, const double part[])
{
    memcpy(a->equal, part, a->nodes * sizeof *part);
    a->is_split = 1;
}

void account_lag(struct account *a, const double lag[])
{
    memcpy(a->lag, lag, a->nodes * sizeof *lag);
}

static void cover(struct cover *c, double from, double to)
{
    from = fmax(from, c->end);
    if (!(to > from))
        return;
    c->seconds += to - from;
    c->end = to;
}

void account_add(struct account *a, const struct account_piece *p)
{
    struct node *n = &a->node[p->node];
    double sent = fmax(p->sent, 0), begun = fmax(p->back - p->seconds, sent);

    if (p->counts) {
        n->commands++;
        n->units += p->units;
        n->ran += p->back - begun;
        cover(&n->running, begun, p->back);
    }
    if (!p->counts && !(p->seconds > 0))
        begun = sent; /* nobody knows what it did */
    cover(&n->at_work, begun, p->back);
    cover(&n->out, sent, p->back);
}

/* --- closing it ----------------------------------------------------------- */

/* What a node's costs are: its starts wait by its lag longer, which is in its terms
 * here. */
static struct cost_terms terms_of(const struct account *a,
                                  const struct cost_terms *terms,
                                  size_t node)
{
    struct cost_terms t = *terms;

    t.wait += a->free[node];
    return t;
}

static double start_of(const struct cost_terms *t, double speed)
{
    return t->wait + t->burn / speed;
}

static double predicted(const struct node *n,
                        const struct cost_terms *t,
                        double speed)
{
    return n->commands * start_of(t, speed) + t->each * n->units / speed;
}

/* The costs, lowered to what the commands have taken, if that is less; lags, too. */
static struct cost_terms lowered(struct account *a,
                                 const struct cost_terms *terms,
                                 const double speed[])
{
    double ran = 0, should = 0, factor;

    memcpy(a->free, a->lag, a->nodes * sizeof *a->free);
    for (size_t i = 0; i < a->nodes; i++) {
        struct cost_terms t = terms_of(a, terms, i);

        if (!(speed[i] > 0))
            continue;
        ran += speed[i] * a->node[i].ran;
        should += speed[i] * predicted(&a->node[i], &t, speed[i]);
    }
    factor = ran > 0 && ran < should ? ran / should : 1;
    for (size_t i = 0; i < a->nodes; i++)
        a->free[i] *= factor;
    return (struct cost_terms){.wait = factor * terms->wait,
                               .burn = factor * terms->burn,
                               .each = factor * terms->each};
}

/* A node's seconds but for its work and one start, weighted. */
static void add_node(double part[ACCOUNT_PARTS],
                     const struct node *n,
                     const struct cost_terms *t,
                     double speed,
                     double weight,
                     double time)
{
    double start = start_of(t, speed);
    double again = fmax(n->commands - 1, 0) * start;
    double hidden = n->ran - n->running.seconds;
    double idle = time - fmin(n->out.seconds, time);

    part[ACCOUNT_RESTARTS] += weight * fmax(again - hidden, 0);
    part[ACCOUNT_WAITING] +=
        weight * fmax(idle - (n->commands > 0 ? 0 : start), 0);
    part[ACCOUNT_TWICE] += weight * (n->at_work.seconds - n->running.seconds);
    part[ACCOUNT_WIRE] += weight * (n->out.seconds - n->at_work.seconds);
    part[ACCOUNT_SLOWER] += weight * (n->ran - predicted(n, t, speed));
}

/* Parts that are less than nothing, and what was done by nodes that count for
 * nothing, are taken off the others; what is missing is noise, as well. */
static void settle(struct account_result *r)
{
    static const enum account_part order[] = {ACCOUNT_WAITING, ACCOUNT_SLOWER,
                                              ACCOUNT_WIRE, ACCOUNT_RESTARTS,
                                              ACCOUNT_TWICE};
    double over = r->ideal - r->time;

    for (int i = 0; i < ACCOUNT_PARTS; i++) {
        r->part[i] = fmax(r->part[i], 0);
        over += r->part[i];
    }
    if (over < 0)
        r->part[ACCOUNT_SLOWER] -= over;
    for (int i = 0; i < ACCOUNT_PARTS && over > 0; i++) {
        double *part = &r->part[order[i]], off = fmin(over, *part);

        *part -= off;
        over -= off;
    }
}

static double equal_parts(const struct account *a,
                          const struct cost_terms *t,
                          const double speed[],
                          double units)
{
    double most = 0, n = 0;

    for (size_t i = 0; i < a->nodes; i++)
        n += speed[i] > 0;
    for (size_t i = 0; i < a->nodes; i++) {
        double work = units * (a->is_split ? a->equal[i] : 1 / n);

        if (speed[i] > 0)
            most = fmax(most, a->free[i] + t->wait
                                  + (t->burn + t->each * work) / speed[i]);
    }
    return most;
}

/* Those that ideal does without have no weight. */
static double weight_of(const struct account_result *r,
                        const struct cost_terms *t,
                        double speed)
{
    return speed > 0 && start_of(t, speed) < r->ideal ? speed : 0;
}

static void add_nodes(struct account_result *r,
                      const struct account *a,
                      const struct cost_terms *terms,
                      const double speed[])
{
    double weights = 0;

    for (size_t i = 0; i < a->nodes; i++) {
        struct cost_terms t = terms_of(a, terms, i);

        weights += weight_of(r, &t, speed[i]);
    }
    for (size_t i = 0; i < a->nodes; i++) {
        struct cost_terms t = terms_of(a, terms, i);
        double weight = weight_of(r, &t, speed[i]);

        if (weight > 0)
            add_node(r->part, &a->node[i], &t, speed[i], weight / weights,
                     r->time);
    }
}

/* Nothing is done: what the nodes did all the same was in vain, and all else is
 * waiting. */
static struct account_result close_nothing(const struct account *a,
                                           const double speed[],
                                           double time)
{
    static const struct cost_terms none = {.wait = 0};
    struct account_result r = {.time = time};
    double speeds = 0;

    for (size_t i = 0; i < a->nodes; i++)
        speeds += speed[i];
    for (size_t i = 0; i < a->nodes; i++)
        if (speed[i] > 0)
            add_node(r.part, &a->node[i], &none, speed[i], speed[i] / speeds,
                     time);
    if (!(speeds > 0))
        r.part[ACCOUNT_WAITING] = time;
    settle(&r);
    return r;
}

struct account_result account_close(struct account *a,
                                    const struct cost_terms *terms,
                                    const double speed[],
                                    double time)
{
    struct account_result r = {.time = time, .ideal = time, .equal = time};
    struct cost_terms t = lowered(a, terms, speed);
    double units = 0;

    for (size_t i = 0; i < a->nodes; i++)
        units += speed[i] > 0 ? a->node[i].units : 0;
    if (!(units > 0))
        return close_nothing(a, speed, time);
    if (!(t.each > 0))
        return r;
    r.ideal = fmin(level_find(a->free, speed, a->nodes, &t, units), time);
    r.equal = equal_parts(a, &t, speed, units);
    add_nodes(&r, a, &t, speed);
    settle(&r);
    return r;
}

double account_efficiency(const struct account_result *r)
{
    return r->time > 0 && r->ideal > 0 ? r->ideal / r->time : -1;
}

void account_sum(struct account_result *run, const struct account_result *frame)
{
    run->time += frame->time;
    run->ideal += frame->ideal;
    run->equal += frame->equal;
    for (int i = 0; i < ACCOUNT_PARTS; i++)
        run->part[i] += frame->part[i];
}

const char *account_name(enum account_part part)
{
    static const char *const name[ACCOUNT_PARTS] = {
        [ACCOUNT_RESTARTS] = "restarts", [ACCOUNT_WAITING] = "waiting",
        [ACCOUNT_TWICE] = "twice",       [ACCOUNT_WIRE] = "wire",
        [ACCOUNT_SLOWER] = "slower",
    };

    return name[part];
}
