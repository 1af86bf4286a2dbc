/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/window.h"

#include <math.h>

void window_init(struct window *w,
                 struct window_frame place[],
                 size_t places,
                 size_t nodes)
{
    *w = (struct window){.place = place, .places = places, .nodes = nodes};
}

/* --- how it stands -------------------------------------------------------- */

size_t window_place(const struct window *w, size_t i)
{
    return (w->first + i) % w->places;
}

struct window_frame *window_nth(const struct window *w, size_t i)
{
    return &w->place[window_place(w, i)];
}

size_t window_open(const struct window *w)
{
    return w->is_over ? 0 : w->n;
}

static int window_has_ended(const struct window_frame *f)
{
    return f->is_kept || (dispatch_left(f->dispatch) == 0 && !f->is_open);
}

int window_is_done(const struct window *w)
{
    return window_open(w) > 0 && window_has_ended(window_nth(w, 0));
}

size_t window_node_out(const struct window *w, size_t node)
{
    size_t out = 0;

    for (size_t i = 0; i < w->n; i++)
        out += dispatch_node(window_nth(w, i)->dispatch, node)->out;
    return out;
}

struct window_frame *window_working_at(const struct window *w, size_t node)
{
    struct window_frame *oldest = NULL;
    double sent = INFINITY;

    for (size_t i = 0; i < w->n; i++) {
        struct window_frame *f = window_nth(w, i);
        const struct dispatch_piece *p = dispatch_current(f->dispatch, node);
        double at = p ? f->start + p->sent : INFINITY;

        if (at < sent) {
            sent = at;
            oldest = f;
        }
    }
    return oldest;
}

/* Are later frames to begin as soon as there is room, as all are cut as one? */
static int joins(const struct window *w)
{
    return w->places > 1 && w->n > 0
           && dispatch_can_join(window_nth(w, w->n - 1)->dispatch);
}

/* Is there room for another frame, and perhaps one to be had? */
static int may_begin(const struct window *w)
{
    return w->n < w->places && !w->is_dry;
}

int window_wants_frame(const struct window *w)
{
    return window_open(w) == 0 || (w->wants_frame && may_begin(w));
}

/* --- what a dispatcher is to know of the others --------------------------- */

/* What a node has of the others: what waits of frames before this one it does
 * first, too.  One that is yet to come is taken to need as long again. */
static void tell_elsewhere(const struct window *w,
                           const struct window_frame *f,
                           size_t node,
                           double now)
{
    double busy = 0;
    size_t out = 0;
    int is_before = 1;

    if (w->awaited && w->awaited[node] > 0) {
        dispatch_await(f->dispatch, node,
                       now - f->start + (now - w->awaited[node]));
        return;
    }
    if (w->places == 1)
        return;
    for (size_t i = 0; i < w->n; i++) {
        const struct window_frame *other = window_nth(w, i);

        if (other == f) {
            is_before = 0;
            continue;
        }
        out += dispatch_node(other->dispatch, node)->out;
        busy +=
            dispatch_busy(other->dispatch, node, now - other->start, is_before);
    }
    dispatch_elsewhere(f->dispatch, node, out, now - f->start + busy);
}

static void tell_all_elsewhere(const struct window *w,
                               const struct window_frame *f,
                               double now)
{
    for (size_t i = 0; (w->places > 1 || w->awaited) && i < w->nodes; i++)
        tell_elsewhere(w, f, i, now);
}

/* What is left of other frames of its type: to be known before it is fed. */
static void tell_beside(const struct window *w, const struct window_frame *f)
{
    double work = 0;

    if (w->places == 1 || !dispatch_can_join(f->dispatch))
        return;
    for (size_t i = 0; i < w->n; i++)
        if (window_nth(w, i) != f && window_nth(w, i)->type == f->type)
            work += dispatch_pool_work(window_nth(w, i)->dispatch);
    dispatch_set_beside(f->dispatch, work, w->is_followed);
}

static void tell_all(const struct window *w,
                     const struct window_frame *f,
                     double now)
{
    tell_all_elsewhere(w, f, now);
    tell_beside(w, f);
}

/* --- feeding -------------------------------------------------------------- */

/* Does a look at what is left go by more than the dispatcher knows? */
static int looks_around(const struct window *w)
{
    return joins(w) || w->awaited;
}

/* A node has a place free, and none of the frames has a part for it. */
static int is_hungry(const struct window *w, size_t node, double now)
{
    const struct window_frame *f = window_nth(w, 0);

    tell_elsewhere(w, f, node, now);
    return dispatch_has_room(f->dispatch, node, now - f->start);
}

static int is_anyone_hungry(const struct window *w, double now)
{
    for (size_t i = 0; i < w->nodes; i++)
        if (is_hungry(w, i, now))
            return 1;
    return 0;
}

/* Its own part of each frame. */
static int hand(struct window *w,
                size_t node,
                double now,
                const struct window_sender *to)
{
    for (size_t i = 0; i < w->n; i++) {
        struct window_frame *f = window_nth(w, i);
        double at = now - f->start;

        tell_elsewhere(w, f, node, now);
        if (looks_around(w) && dispatch_takes_look(f->dispatch, node, at))
            tell_all(w, f, now);
        if (to->send(to->arg, window_place(w, i),
                     dispatch_hand(f->dispatch, node, at))
            < 0)
            return -1;
    }
    return 0;
}

int window_feed_node(struct window *w,
                     size_t node,
                     double now,
                     const struct window_sender *to)
{
    if (joins(w) && window_has_ended(window_nth(w, 0)))
        return 0; /* the next frame is cut with the others */
    if (joins(w) && may_begin(w)) {
        w->wants_frame = 1; /* likewise, now that costs are known */
        return 0;
    }
    if (hand(w, node, now, to) < 0)
        return -1;
    if (may_begin(w) && is_hungry(w, node, now)) {
        w->wants_frame = 1;
        return 0;
    }
    for (size_t i = 0; i < w->n && window_node_out(w, node) == 0; i++) {
        struct window_frame *f = window_nth(w, i);
        double at = now - f->start;

        tell_elsewhere(w, f, node, now);
        if (dispatch_help_takes_look(f->dispatch, node, at))
            tell_all(w, f, now);
        if (to->send(to->arg, window_place(w, i),
                     dispatch_help(f->dispatch, node, at))
            < 0)
            return -1;
    }
    return 0;
}

/* One of the steps, for all nodes and frames. */
static int feed_all(struct window *w,
                    int (*feed)(struct dispatch *d, double now),
                    double now,
                    const struct window_sender *to)
{
    for (size_t i = 0; i < w->n; i++) {
        struct window_frame *f = window_nth(w, i);

        tell_all(w, f, now);
        if (to->send(to->arg, window_place(w, i),
                     feed(f->dispatch, now - f->start))
            < 0)
            return -1;
    }
    return 0;
}

int window_feed(struct window *w, double now, const struct window_sender *to)
{
    if (feed_all(w, dispatch_hand_all, now, to) < 0)
        return -1;
    if (w->n > 0 && may_begin(w) && is_anyone_hungry(w, now)) {
        w->wants_frame = 1; /* to begin a later frame is better than to help */
        return 0;
    }
    if (feed_all(w, dispatch_help_all, now, to) < 0)
        return -1;
    return w->speculates ? feed_all(w, dispatch_speculate, now, to) : 0;
}

/* --- frames begin and come out -------------------------------------------- */

int window_is_full(const struct window *w)
{
    return w->n == w->places || w->is_over;
}

void window_forget_first(struct window *w)
{
    w->first = window_place(w, 1);
    w->n--;
}

size_t window_add(struct window *w,
                  const struct window_frame *frame,
                  int is_followed)
{
    size_t place = window_place(w, w->n++);

    w->place[place] = *frame;
    w->is_over = w->wants_frame = 0;
    w->is_followed = is_followed;
    return place;
}

int window_begin(struct window *w,
                 struct slice units,
                 const struct slice done[],
                 size_t n,
                 int *is_begun,
                 const struct window_sender *to)
{
    struct window_frame *f = window_nth(w, w->n - 1);
    int is_joined = joins(w);

    tell_all_elsewhere(w, f, f->start);
    dispatch_set_beside(f->dispatch, is_joined ? 0 : -1, w->is_followed);
    *is_begun = dispatch_begin(f->dispatch, units, done, n) == 0;
    if (!*is_begun)
        return -1;
    if (is_joined && may_begin(w)) {
        w->wants_frame = 1;
        return 0;
    }
    return window_feed(w, f->start, to);
}

int window_no_frame(struct window *w,
                    double now,
                    const struct window_sender *to)
{
    w->is_dry = 1;
    w->wants_frame = 0;
    return window_open(w) > 0 ? window_feed(w, now, to) : 0;
}

int window_ask(struct window *w, double now, const struct window_sender *to)
{
    w->is_dry = 0;
    if (joins(w) && may_begin(w)) {
        w->wants_frame = 1; /* before anything is cut */
        return 0;
    }
    return window_open(w) > 0 ? window_feed(w, now, to) : 0;
}

int window_close(struct window *w)
{
    if (w->n <= 1) {
        w->is_over = 1;
        return 0;
    }
    window_forget_first(w);
    return 1;
}
