/* SPDX-License-Identifier: BSD-2-Clause */
/* Feeding: which frame a node with room gets something of. */
#include "launcher/run/distribution_state.h"

/* The frame's dispatcher is to know what a slot has of the others: what waits of
 * frames before this one it does first, too. */
static void tell_elsewhere(const struct distribution *d,
                           const struct at_work *w,
                           size_t slot,
                           int64_t ns)
{
    double busy = 0;
    size_t out = 0;
    int is_before = 1;

    if (d->places == 1)
        return;
    for (size_t i = 0; i < d->n; i++) {
        const struct at_work *other = nth(d, i);

        if (other == w) {
            is_before = 0;
            continue;
        }
        out += dispatch_node(other->dispatch, slot)->out;
        busy +=
            dispatch_busy(other->dispatch, slot, since(other, ns), is_before);
    }
    dispatch_elsewhere(w->dispatch, slot, out, since(w, ns) + busy);
}

void distribution_tell_all_elsewhere(const struct distribution *d,
                                     const struct at_work *w,
                                     int64_t ns)
{
    for (size_t i = 0; d->places > 1 && i < d->slots->n; i++)
        tell_elsewhere(d, w, i, ns);
}

int distribution_joins(const struct distribution *d)
{
    return d->places > 1 && d->n > 0
           && dispatch_can_join(nth(d, d->n - 1)->dispatch);
}

/* What is left of other frames of its type: to be known before it is fed. */
static void tell_beside(const struct distribution *d, const struct at_work *w)
{
    double work = 0;

    if (d->places == 1 || !dispatch_can_join(w->dispatch))
        return;
    for (size_t i = 0; i < d->n; i++)
        if (nth(d, i) != w && nth(d, i)->frame.type == w->frame.type)
            work += dispatch_pool_work(nth(d, i)->dispatch);
    dispatch_set_beside(w->dispatch, work, d->is_followed);
}

static void tell_all(const struct distribution *d,
                     const struct at_work *w,
                     int64_t ns)
{
    distribution_tell_all_elsewhere(d, w, ns);
    tell_beside(d, w);
}

int distribution_may_begin(const struct distribution *d)
{
    return d->n < d->places && !d->is_dry;
}

/* A slot has a place free, and none of the frames has a part for it. */
static int is_hungry(const struct distribution *d, size_t slot, int64_t ns)
{
    const struct at_work *w = nth(d, 0);

    tell_elsewhere(d, w, slot, ns);
    return dispatch_has_room(w->dispatch, slot, since(w, ns));
}

static int is_anyone_hungry(const struct distribution *d, int64_t ns)
{
    for (size_t i = 0; i < d->slots->n; i++)
        if (is_hungry(d, i, ns))
            return 1;
    return 0;
}

static int hand(struct distribution *d, size_t slot, struct es_error *err)
{
    for (size_t i = 0; i < d->n; i++) {
        struct at_work *w = nth(d, i);

        tell_elsewhere(d, w, slot, d->answered_ns);
        if (distribution_joins(d)
            && dispatch_takes_look(w->dispatch, slot, since(w, d->answered_ns)))
            tell_all(d, w, d->answered_ns);
        if (distribution_send_all(
                d, w,
                dispatch_hand(w->dispatch, slot, since(w, d->answered_ns)), err)
            < 0)
            return -1;
    }
    return 0;
}

int distribution_feed_slot(struct distribution *d,
                           size_t slot,
                           struct es_error *err)
{
    if (distribution_joins(d) && is_done(nth(d, 0)))
        return 0; /* the next frame is cut with the others */
    if (distribution_joins(d) && distribution_may_begin(d)) {
        d->wants_frame = 1; /* likewise, now that costs are known */
        return 0;
    }
    if (hand(d, slot, err) < 0)
        return -1;
    if (distribution_may_begin(d) && is_hungry(d, slot, d->answered_ns)) {
        d->wants_frame = 1;
        return 0;
    }
    for (size_t i = 0; i < d->n && distribution_slot_out(d, slot) == 0; i++) {
        struct at_work *w = nth(d, i);

        tell_all(d, w, d->answered_ns);
        if (distribution_send_all(
                d, w,
                dispatch_help(w->dispatch, slot, since(w, d->answered_ns)), err)
            < 0)
            return -1;
    }
    return 0;
}

/* One of the two steps, for all nodes and frames. */
static int feed_all(struct distribution *d,
                    int (*feed)(struct dispatch *d, double now),
                    int64_t ns,
                    struct es_error *err)
{
    for (size_t i = 0; i < d->n; i++) {
        struct at_work *w = nth(d, i);

        tell_all(d, w, ns);
        if (distribution_send_all(d, w, feed(w->dispatch, since(w, ns)), err)
            < 0)
            return -1;
    }
    return 0;
}

int distribution_feed_at(struct distribution *d,
                         int64_t ns,
                         struct es_error *err)
{
    if (feed_all(d, dispatch_hand_all, ns, err) < 0)
        return -1;
    if (d->n > 0 && distribution_may_begin(d) && is_anyone_hungry(d, ns)) {
        d->wants_frame = 1;
        return 0;
    }
    if (feed_all(d, dispatch_help_all, ns, err) < 0)
        return -1;
    return d->speculates ? feed_all(d, dispatch_speculate, ns, err) : 0;
}

int distribution_feed(struct distribution *d, struct es_error *err)
{
    return distribution_feed_at(d, clock_ns(), err);
}

int distribution_wants_look(const struct distribution *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (dispatch_wants_look(nth(d, i)->dispatch))
            return 1;
    return 0;
}

int64_t distribution_gap_ns(const struct distribution *d)
{
    return (int64_t)(dispatch_gap(nth(d, 0)->dispatch) * 1e9);
}
