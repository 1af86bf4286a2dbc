/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One piece: out, back, or void; and who may have one.  Whatever is out or
 * waiting has a place set aside in the pool, so nothing that happens to a node
 * can fail.
 */
#include "policy/dispatch_state.h"

#include <stdlib.h>
#include <string.h>

/* --- who may work --------------------------------------------------------- */

int dispatch_is_by_cost(const struct dispatch *d)
{
    return d->most_pieces == DISPATCH_BY_COST && d->sizing.cost
           && !d->kind->bundles && !dispatch_picks(d);
}

int dispatch_may_send(const struct dispatch *d, size_t node)
{
    return d->node[node].standing < STANDING_LEAVING;
}

/* The load that a node is to get: 0 if it may get nothing. */
static double load_of(const struct dispatch *d, size_t node)
{
    return d->node[node].standing == STANDING_GOOD ? d->asked[node] : 0;
}

static int is_good(const struct dispatch *d, size_t node)
{
    const struct dispatch_node *s = &d->node[node];

    return d->load[node] > 0 && s->failures == 0 && !s->is_awaited;
}

int dispatch_are_alike(const struct dispatch *d, size_t a, size_t b)
{
    return a == b || (d->group && d->group[a] == d->group[b]);
}

void dispatch_set_awaited(struct dispatch *d, size_t node, int is_awaited)
{
    d->good -= (size_t)is_good(d, node);
    d->node[node].is_awaited = is_awaited;
    d->good += (size_t)is_good(d, node);
}

void dispatch_set_failures(struct dispatch *d, size_t node, unsigned failures)
{
    size_t i = node;

    if (d->node[node].failures == failures)
        return;
    while (i > 0 && dispatch_are_alike(d, i - 1, node))
        i--;
    for (; i < d->nodes && dispatch_are_alike(d, i, node); i++) {
        d->good -= (size_t)is_good(d, i);
        d->node[i].failures = failures;
        d->good += (size_t)is_good(d, i);
    }
}

size_t dispatch_good_beside(const struct dispatch *d, size_t node)
{
    size_t good = d->good, i = node;

    while (i > 0 && dispatch_are_alike(d, i - 1, node))
        i--;
    for (; i < d->nodes && dispatch_are_alike(d, i, node); i++)
        good -= (size_t)is_good(d, i);
    return good;
}

/* --- one piece ------------------------------------------------------------ */

int dispatch_make_room(struct dispatch *d)
{
    size_t cap = d->cap * 2 + 16;
    struct dispatch_piece *more;

    if (unit_pool_reserve(&d->pool, d->pool.n + 2 * d->out + d->waiting + 4)
        < 0)
        return DISPATCH_NO_MEMORY;
    if (d->n < d->cap)
        return 0;
    if (cap > SIZE_MAX / sizeof *more)
        return DISPATCH_NO_MEMORY;
    more = realloc(d->piece, cap * sizeof *more);
    if (!more)
        return DISPATCH_NO_MEMORY;
    d->piece = more;
    d->cap = cap;
    return 0;
}

void dispatch_set_waiting(struct dispatch *d, size_t node, struct batch b)
{
    struct dispatch_node *s = &d->node[node];

    d->waiting -= units_in(s->waiting.units) > 0;
    s->waiting = b;
    d->waiting += units_in(b.units) > 0;
}

void dispatch_put_back(struct dispatch *d, const struct batch *b)
{
    (void)unit_pool_add(&d->pool, b);
    if (d->needs)
        needs_back(d->needs, b->units);
}

void dispatch_take_out(struct dispatch *d,
                       size_t node,
                       const struct batch *b,
                       double now)
{
    struct dispatch_piece *p = &d->piece[d->n];
    struct dispatch_node *s = &d->node[node];

    *p = (struct dispatch_piece){.id = d->first_id + d->n,
                                 .node = node,
                                 .units = b->units,
                                 .attempt = b->attempts + 1,
                                 .failures = b->failures,
                                 .forgiven = b->forgiven,
                                 .sent = now};
    if (s->out == 0)
        s->begun = now;
    if (d->needs)
        needs_take(d->needs, node, b->units.begin);
    s->piece[s->out++] = p->id;
    s->out_units += units_in(p->units);
    s->got++;
    d->out++;
    d->n++;
}

void dispatch_copy_out(struct dispatch *d,
                       struct dispatch_piece *p,
                       size_t node,
                       double now)
{
    const struct batch b = {.units = p->units,
                            .attempts = p->attempt - 1,
                            .failures = p->failures,
                            .forgiven = p->forgiven};
    struct dispatch_piece *copy = &d->piece[d->n];

    dispatch_take_out(d, node, &b, now);
    p->has_twin = copy->has_twin = 1;
    p->twin = copy->id;
    copy->twin = p->id;
}

const struct dispatch_piece *dispatch_twin(const struct dispatch *d,
                                           const struct dispatch_piece *p)
{
    const struct dispatch_piece *twin =
        p->has_twin ? &d->piece[p->twin - d->first_id] : NULL;

    return twin && twin->state == PIECE_OUT ? twin : NULL;
}

/* A node's first piece has come back: when was the next one begun? */
static double begun_next(const struct dispatch *d, size_t node, double now)
{
    const struct dispatch_node *s = &d->node[node];

    if (!d->overlap || !d->overlap[node] || s->out == 0)
        return now;
    return d->piece[s->piece[0] - d->first_id].sent;
}

void dispatch_take_back(struct dispatch *d,
                        struct dispatch_piece *p,
                        enum piece_state state,
                        double now)
{
    struct dispatch_node *s = &d->node[p->node];
    size_t i = 0;

    while (s->piece[i] != p->id)
        i++;
    memmove(s->piece + i, s->piece + i + 1,
            (s->out - i - 1) * sizeof *s->piece);
    if (d->needs)
        needs_give(d->needs, p->node);
    s->out--;
    s->out_units -= units_in(p->units);
    if (i == 0) {
        s->begun = begun_next(d, p->node, now);
        s->metered = 0;
    }
    p->state = state;
    d->out--;
}

struct dispatch_piece *dispatch_piece_of(struct dispatch *d, uint64_t id)
{
    return &d->piece[id - d->first_id];
}

/* Its units, if it ends in vain. */
static struct batch batch_of(const struct dispatch_piece *p)
{
    return (struct batch){.units = p->units,
                          .attempts = p->attempt,
                          .failures = p->failures + (p->is_blamed ? 1 : 0),
                          .forgiven = p->forgiven + (p->is_excused ? 1 : 0)};
}

enum failure_verdict dispatch_judge(const struct dispatch *d,
                                    const struct dispatch_piece *p)
{
    struct batch b = batch_of(p);

    if (dispatch_twin(d, p))
        return FAILURE_COPIED;
    return p->is_blamed && !p->is_excused
               ? failure_judge(&d->rule, &b, p->is_late, d->grain)
               : FAILURE_RETRY;
}

void dispatch_make_void(struct dispatch *d,
                        struct dispatch_piece *p,
                        double now)
{
    enum failure_verdict verdict = dispatch_judge(d, p);
    struct batch b = batch_of(p), half[2];

    dispatch_take_back(
        d, p, verdict == FAILURE_LEAVE_OUT ? PIECE_LEFT_OUT : PIECE_VOID, now);
    switch (verdict) {
    case FAILURE_RETRY:
        dispatch_put_back(d, &b);
        break;
    case FAILURE_HALVE:
        failure_halve(&d->rule, &b, d->grain, half);
        dispatch_put_back(d, &half[0]);
        dispatch_put_back(d, &half[1]);
        break;
    case FAILURE_LEAVE_OUT:
        d->left -= units_in(b.units);
        d->left_out += units_in(b.units);
        break;
    case FAILURE_COPIED: /* where this one is lost, there may be another */
        if (!p->is_blamed)
            dispatch_piece_of(d, p->twin)->has_twin = 0;
        break;
    }
}

void dispatch_shorten(struct dispatch *d, uint64_t id, uint64_t end)
{
    struct dispatch_piece *p = dispatch_piece_of(d, id);
    struct batch rest = batch_of(p);

    rest.units.begin = end;
    d->node[p->node].out_units -= units_in(rest.units);
    p->units.end = end;
    dispatch_put_back(d, &rest);
}

void dispatch_give_up_waiting(struct dispatch *d, size_t node)
{
    dispatch_put_back(d, &d->node[node].waiting);
    dispatch_set_waiting(d, node, (struct batch){0});
}

const struct dispatch_piece *dispatch_find(const struct dispatch *d,
                                           size_t node,
                                           uint64_t id)
{
    const struct dispatch_node *s = &d->node[node];

    for (size_t i = 0; i < s->out; i++)
        if (s->piece[i] == id)
            return &d->piece[id - d->first_id];
    return NULL;
}

const struct dispatch_piece *dispatch_current(const struct dispatch *d,
                                              size_t node)
{
    return dispatch_find(d, node, d->node[node].piece[0]);
}

const struct dispatch_piece *dispatch_next(struct dispatch *d)
{
    while (d->next < d->n)
        if (d->piece[d->next++].state == PIECE_OUT)
            return &d->piece[d->next - 1];
    return NULL;
}

/* --- who gets how much ---------------------------------------------------- */

void dispatch_weigh(struct dispatch *d)
{
    d->loads = 0;
    for (size_t i = 0; i < d->nodes; i++) {
        d->load[i] = load_of(d, i);
        d->loads += d->load[i];
    }
    for (size_t i = 0; i < d->nodes && !(d->loads > 0); i++)
        d->load[i] = dispatch_may_send(d, i);
    d->good = 0;
    d->loads = 0;
    for (size_t i = 0; i < d->nodes; i++) {
        d->loads += d->load[i];
        d->good += (size_t)is_good(d, i);
        if (!(d->load[i] > 0))
            dispatch_give_up_waiting(d, i);
    }
}

double dispatch_pool_work(const struct dispatch *d)
{
    double work = 0;

    for (size_t i = 0; i < d->pool.n; i++)
        work += sizing_work(&d->sizing, d->pool.batch[i].units);
    return work;
}
