/* SPDX-License-Identifier: BSD-2-Clause */
/* What the nodes say, and what befalls them. */
#include "launcher/run/distribution_state.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* --- what the nodes say --------------------------------------------------- */

/* The piece of that frame, if it is out and with one of this node's slots;
 * w may be NULL. */
static const struct dispatch_piece *find(const struct distribution *d,
                                         const struct at_work *w,
                                         size_t node,
                                         uint64_t id)
{
    const struct piece *p = w ? distribution_piece_of(w, id) : NULL;

    if (!p || d->slots->node[p->part.node] != node)
        return NULL;
    return dispatch_find(w->in->dispatch, p->part.node, id);
}

struct piece *distribution_piece(struct distribution *d,
                                 size_t node,
                                 uint64_t id)
{
    const struct at_work *w = distribution_frame_of_piece(d, id);

    return find(d, w, node, id) ? distribution_piece_of(w, id) : NULL;
}

int distribution_output(struct distribution *d,
                        size_t node,
                        const struct msg_output *m,
                        struct es_error *err)
{
    struct piece *p = distribution_piece(d, node, m->id);

    if (!p)
        return 0;
    p->output += m->len;
    if (spool_add(&p->out, m->bytes, m->len) == 0)
        return 0;
    return es_fail(err, ES_WORK, spool_mend(errno),
                   "cannot keep the output of a slice: %s", strerror(errno));
}

static int may_overlap(const struct distribution *d, size_t slot)
{
    return d->overlap && d->overlap[slot];
}

/* What one frame has learned of a slot, and that it begins with the next piece
 * that it has, perhaps another frame's. */
static void tell_others(struct distribution *d,
                        const struct at_work *w,
                        size_t slot)
{
    const struct at_work *next = distribution_working_at(d, slot);

    for (size_t i = 0; i < d->window.places; i++)
        if (&d->place[i] != w)
            dispatch_share(d->place[i].of[w->frame.type], slot,
                           w->in->dispatch);
    if (next && next != w && !may_overlap(d, slot))
        dispatch_turn(next->in->dispatch, slot, since(next, d->answered_ns));
}

/* Did it run beside another at any time, and end as what has no memory does? */
static int was_crowded(const struct distribution *d,
                       const struct at_work *w,
                       const struct msg_done *m)
{
    const struct dispatch_piece *p = &distribution_piece_of(w, m->id)->part;
    double both = d->overlap ? since(w, d->both[p->node].since_ns) : 0;

    if (!may_overlap(d, p->node)
        || (distribution_slot_out(d, p->node) == 1 && p->sent > both))
        return 0;
    return m->signal == SIGKILL || m->exec_errno == ENOMEM
           || m->status == 128 + SIGKILL
           || (m->status == 126 && m->elapsed_ns == 0); /* not even begun */
}

/* A piece has come back from a slot: for how many seconds did it run beside
 * another?  Told before it is taken out. */
static double ran_beside(struct distribution *d, size_t slot)
{
    struct both *both = &d->both[slot];
    double before = both->before;

    both->before = distribution_slot_out(d, slot) > 1
                       ? seconds_of(d->answered_ns - both->since_ns)
                       : 0;
    return before + both->before;
}

static void forbid_overlap(struct distribution *d, size_t node)
{
    const size_t *first = d->slots->first;

    memset(d->overlap + first[node], 0, slots_of(d->slots, node));
}

static void send_cancel(const struct distribution *d, const struct piece *p)
{
    struct writer m = {0};

    write_u64(&m, p->part.id);
    session_send(d->session, d->slots->node[p->part.node], MSG_CANCEL, &m);
}

/* Its copy is at work for nothing, if it is. */
static void end_copy(const struct distribution *d,
                     struct at_work *w,
                     const struct piece *p)
{
    struct piece *copy;

    if (!p->part.has_twin)
        return;
    copy = distribution_renew(w, p->part.twin);
    if (copy && copy->part.is_beaten)
        send_cancel(d, copy);
}

struct piece *distribution_beaten(struct distribution *d, const struct piece *p)
{
    const struct at_work *w = distribution_frame_of_piece(d, p->part.id);
    struct piece *copy = p->part.has_twin && p->part.state == PIECE_DONE
                             ? distribution_piece_of(w, p->part.twin)
                             : NULL;

    return copy && copy->part.is_beaten ? copy : NULL;
}

struct piece *distribution_done(struct distribution *d,
                                size_t node,
                                const struct msg_done *m,
                                int is_done)
{
    double seconds = seconds_of((int64_t)m->elapsed_ns), at;
    struct at_work *w = distribution_frame_of_piece(d, m->id);
    struct piece *p;

    if (!find(d, w, node, m->id))
        return NULL;
    d->answered_ns = clock_ns();
    at = since(w, d->answered_ns);
    if (!is_done && was_crowded(d, w, m)) {
        dispatch_crowded(w->in->dispatch, m->id);
        forbid_overlap(d, node);
    }
    p = distribution_piece_of(w, m->id);
    if (d->overlap)
        dispatch_ran_beside(w->in->dispatch, m->id,
                            ran_beside(d, p->part.node));
    if (is_done)
        dispatch_answered(w->in->dispatch, m->id, at, seconds,
                          seconds_of((int64_t)m->cpu_ns));
    else
        dispatch_failed(w->in->dispatch, m->id, at, seconds);
    p = distribution_renew(w, m->id);
    tell_others(d, w, p->part.node);
    p->status = (int)m->status;
    p->signal = (int)m->signal;
    if (is_done)
        end_copy(d, w, p);
    return p;
}

int distribution_cut(struct distribution *d, struct piece *p, uint64_t units)
{
    struct at_work *w = distribution_frame_of_piece(d, p->part.id);

    if (p->part.has_twin)
        return -1;
    dispatch_shorten(w->in->dispatch, p->part.id, p->part.units.begin + units);
    p->part = *dispatch_piece(w->in->dispatch, (size_t)(p - w->piece));
    return 0;
}

struct piece *distribution_split(struct distribution *d,
                                 struct piece *p,
                                 uint64_t units,
                                 const struct msg_done *took,
                                 const struct spool *rest)
{
    struct at_work *w = distribution_frame_of_piece(d, p->part.id);
    size_t i = (size_t)(p - w->piece);
    struct piece *more, *head;

    if (p->part.has_twin)
        return NULL;
    more = array_grow(w->piece, &w->room, w->n + 1, sizeof *more, SIZE_MAX);
    if (!more)
        return NULL;
    w->piece = more;
    p = &more[i];
    if (dispatch_split(w->in->dispatch, p->part.id, units, since(w, clock_ns()),
                       seconds_of((int64_t)took->elapsed_ns),
                       seconds_of((int64_t)took->cpu_ns))
        < 0)
        return NULL;
    head = &more[w->n];
    *head = *p;
    head->part = *dispatch_piece(w->in->dispatch, w->n++);
    head->status = 0;
    p->part = *dispatch_piece(w->in->dispatch, i);
    p->out = *rest;
    p->output = spool_size(rest);
    head->output -= p->output;
    tell_others(d, w, head->part.node);
    return head;
}

int distribution_doubts(const struct distribution *d, const struct piece *p)
{
    return dispatch_doubts(
        distribution_frame_of_piece(d, p->part.id)->in->dispatch, p->part.id);
}

enum failure_verdict distribution_verdict(const struct distribution *d,
                                          const struct piece *p)
{
    return dispatch_verdict(
        distribution_frame_of_piece(d, p->part.id)->in->dispatch, p->part.id);
}

size_t distribution_metered(struct distribution *d,
                            size_t node,
                            uint64_t id,
                            double fraction)
{
    struct at_work *w = distribution_frame_of_piece(d, id);
    const struct dispatch_piece *p = find(d, w, node, id);

    if (!p)
        return SIZE_MAX;
    dispatch_metered(w->in->dispatch, p->node, id, fraction);
    return p->node;
}

int distribution_give(struct distribution *d,
                      size_t slot,
                      uint64_t units,
                      struct es_error *err)
{
    return dispatch_give(nth(d, 0)->in->dispatch, slot, units) < 0
               ? es_no_memory(err)
               : 0;
}

void distribution_move(struct distribution *d, size_t node, int64_t ns)
{
    const size_t *first = d->slots->first;

    for (size_t i = 0; i < d->window.n; i++)
        for (size_t k = first[node]; k < first[node + 1]; k++)
            dispatch_moved(nth(d, i)->in->dispatch, k, seconds_of(ns),
                           now(nth(d, i)));
}

/* --- nodes come and go ---------------------------------------------------- */

/* What a slot has out of a frame. */
struct out {
    uint64_t id[DISPATCH_OUT];
    size_t n;
};

static struct out out_of(const struct at_work *w, size_t slot)
{
    const struct dispatch_node *s = dispatch_node(w->in->dispatch, slot);
    struct out out = {.n = s->out};

    memcpy(out.id, s->piece, sizeof out.id);
    return out;
}

static void befall_slot(const struct distribution *d,
                        struct at_work *w,
                        size_t slot,
                        void (*tell)(struct dispatch *d, size_t, double now))
{
    struct out out = out_of(w, slot);

    for (size_t t = 0; t < d->types; t++)
        tell(w->of[t], slot, now(w));
    for (size_t i = 0; i < out.n; i++)
        (void)distribution_renew(w, out.id[i]);
}

/* What befalls a node befalls all its slots, in all frames, those to come as
 * well. */
static void befall(struct distribution *d,
                   size_t node,
                   void (*tell)(struct dispatch *d, size_t, double now))
{
    const size_t *first = d->slots->first;

    for (size_t i = 0; i < d->window.places; i++)
        for (size_t k = first[node]; k < first[node + 1]; k++)
            befall_slot(d, nth(d, i), k, tell);
}

int distribution_await(struct distribution *d, size_t node, int64_t since_ns)
{
    const size_t *first = d->slots->first;

    if (!d->awaited)
        d->awaited = calloc(d->slots->n, sizeof *d->awaited);
    if (!d->awaited)
        return -1;
    for (size_t k = first[node]; k < first[node + 1]; k++)
        d->awaited[k] = seconds_of(since_ns);
    d->window.awaited = d->awaited;
    return 0;
}

/* It is here, or will not be. */
static void await_no_more(struct distribution *d, size_t node)
{
    const size_t *first = d->slots->first;
    size_t left = 0;

    for (size_t k = 0; d->awaited && k < d->slots->n; k++) {
        if (k >= first[node] && k < first[node + 1])
            d->awaited[k] = 0;
        left += d->awaited[k] > 0;
    }
    if (left == 0)
        d->window.awaited = NULL;
}

int distribution_lost(struct distribution *d, size_t node, struct es_error *err)
{
    await_no_more(d, node);
    befall(d, node, dispatch_lost);
    return distribution_feed(d, err);
}

int distribution_returned(struct distribution *d,
                          size_t node,
                          struct es_error *err)
{
    const size_t *first = d->slots->first;

    await_no_more(d, node);
    for (size_t i = 0; i < d->window.places; i++)
        for (size_t k = first[node]; k < first[node + 1]; k++)
            for (size_t t = 0; t < d->types; t++)
                dispatch_returned(d->place[i].of[t], k);
    return distribution_feed(d, err);
}

int distribution_joined(struct distribution *d,
                        size_t node,
                        struct es_error *err)
{
    for (size_t t = 0; t < d->types; t++)
        dispatch_tell_speeds(d->place[0].of[t]);
    return distribution_returned(d, node, err);
}

int distribution_retire(struct distribution *d,
                        size_t node,
                        struct es_error *err)
{
    befall(d, node, dispatch_retire);
    return distribution_feed(d, err);
}

void distribution_distrust(struct distribution *d, size_t node)
{
    befall(d, node, dispatch_distrust);
}

struct piece *distribution_overdue(struct distribution *d,
                                   int64_t limit_ns,
                                   int status,
                                   int (*is_late)(void *arg, size_t node),
                                   void *arg)
{
    int64_t begun = clock_ns() - limit_ns;

    for (size_t i = 0; i < d->slots->n; i++) {
        struct at_work *w = distribution_working_at(d, i);
        const struct dispatch_node *s =
            w ? dispatch_node(w->in->dispatch, i) : NULL;
        struct piece *p;

        if (!s || s->begun >= since(w, begun))
            continue;
        p = distribution_piece_of(w, s->piece[0]);
        if (!p || p->status == status || p->back.n > 0 /* it has ended */
            || !is_late(arg, d->slots->node[i]))
            continue;
        dispatch_blame(w->in->dispatch, s->piece[0]);
        p->status = status;
        return p;
    }
    return NULL;
}

void distribution_cancel(struct distribution *d, const struct piece *p)
{
    uint64_t id = p->part.id;
    struct at_work *w = distribution_frame_of_piece(d, id);

    send_cancel(d, p);
    dispatch_cancel(w->in->dispatch, id, now(w));
    (void)distribution_renew(w, id);
}
