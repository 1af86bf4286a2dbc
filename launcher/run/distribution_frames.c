/* SPDX-License-Identifier: BSD-2-Clause */
/* A distribution's life, its frames, and how it stands. */
#include "launcher/run/distribution_state.h"

#include <stdlib.h>
#include <string.h>

/* The dispatchers of one type more, in all places. */
static int add_type(struct distribution *d, uint64_t grain, uint64_t pieces)
{
    const struct slots *slots = d->slots;
    uint64_t type = d->types;

    d->cost[type] = cost_create(slots->n, slots->group);
    if (!d->cost[type])
        return -1;
    d->types++;
    for (uint64_t k = 0; k < d->window.places; k++) {
        struct dispatch *new = dispatch_create(slots->n, grain, pieces);

        d->place[k].of[type] = new;
        if (!new)
            return -1;
        dispatch_number(new, k << PLACE_SHIFT | type << TYPE_SHIFT);
        dispatch_set_groups(new, slots->group);
    }
    return 0;
}

struct distribution *distribution_create(struct session *session,
                                         const struct slots *slots,
                                         uint64_t grain,
                                         uint64_t pieces,
                                         uint64_t ahead)
{
    struct distribution *d = calloc(1, sizeof *d);
    size_t places = (size_t)ahead + 1;

    if (!d)
        return NULL;
    d->session = session;
    d->slots = slots;
    d->pieces = pieces;
    d->end_ns = INT64_MAX;
    d->place = calloc(places, sizeof *d->place);
    window_init(&d->window, calloc(places, sizeof *d->window.place), places,
                slots->n);
    if (d->place && d->window.place && add_type(d, grain, pieces) == 0) {
        for (size_t k = 0; k < places; k++) {
            d->place[k].in = &d->window.place[k];
            d->place[k].in->dispatch = d->place[k].of[0];
        }
        return d;
    }
    distribution_destroy(d);
    return NULL;
}

int distribution_set_types(struct distribution *d, size_t n)
{
    uint64_t grain = dispatch_grain(d->place[0].of[0]);

    while (d->types < n)
        if (add_type(d, grain, d->pieces) < 0)
            return -1;
    return 0;
}

static void forget_pieces(struct at_work *w)
{
    for (size_t i = 0; i < w->n; i++)
        distribution_forget_results(&w->piece[i]);
    w->n = 0;
}

void distribution_destroy(struct distribution *d)
{
    if (!d)
        return;
    for (size_t i = 0; d->place && i < d->window.places; i++) {
        forget_pieces(&d->place[i]);
        free(d->place[i].piece);
        for (size_t t = 0; t < d->types; t++)
            dispatch_destroy(d->place[i].of[t]);
    }
    free(d->place);
    free(d->window.place);
    for (size_t t = 0; t < d->types; t++)
        cost_destroy(d->cost[t]);
    free(d->overlap);
    free(d->both);
    free(d->awaited);
    mailing_clear(&d->runs);
    free(d);
}

static void begin_with(struct distribution *d,
                       struct dispatch *to,
                       const struct job_load_adjuster *by,
                       struct cost *cost)
{
    const struct slots *slots = d->slots;

    dispatch_set_policy(to, by->kind, by->state, by->load);
    dispatch_set_cost(to, cost);
    for (size_t i = 0; i < slots->n; i++)
        if (!session_node(d->session, slots->node[i])->present
            && !(d->awaited && d->awaited[i] > 0))
            dispatch_lost(to, i, 0);
}

void distribution_begin(struct distribution *d,
                        struct job_load_adjuster *adjuster,
                        const struct lines *lines)
{
    d->adjuster = adjuster;
    d->lines = lines;
    for (size_t k = 0; k < d->window.places; k++)
        for (size_t t = 0; t < d->types; t++)
            begin_with(d, d->place[k].of[t], &adjuster[t], d->cost[t]);
}

void distribution_set_speeds(struct distribution *d, const double speed[])
{
    for (size_t k = 0; k < d->window.places; k++)
        for (size_t t = 0; t < d->types; t++)
            dispatch_set_speeds(d->place[k].of[t], speed);
}

int distribution_set_overlap(struct distribution *d)
{
    d->overlap = malloc(d->slots->n);
    d->both = calloc(d->slots->n, sizeof *d->both);
    if (!d->overlap || !d->both)
        return -1;
    memset(d->overlap, 1, d->slots->n);
    for (size_t i = 0; i < d->window.places; i++)
        for (size_t t = 0; t < d->types; t++)
            dispatch_set_overlap(d->place[i].of[t], d->overlap);
    return 0;
}

void distribution_set_failure_rule(struct distribution *d,
                                   const struct failure_rule *rule)
{
    for (size_t i = 0; i < d->window.places; i++)
        for (size_t t = 0; t < d->types; t++)
            dispatch_set_failure_rule(d->place[i].of[t], rule);
}

void distribution_set_needs(struct distribution *d, struct needs *needs)
{
    d->needs = needs;
    for (size_t i = 0; i < d->window.places; i++)
        for (size_t t = 0; t < d->types; t++)
            dispatch_set_needs(d->place[i].of[t], needs);
}

void distribution_set_speculation(struct distribution *d)
{
    d->window.speculates = 1;
    for (size_t i = 0; i < d->window.places; i++)
        for (size_t t = 0; t < d->types; t++)
            dispatch_set_speculation(d->place[i].of[t], 1);
}

void distribution_only_plan(struct distribution *d)
{
    d->only_plans = 1;
}

static void set_end(const struct distribution *d, struct at_work *w)
{
    dispatch_set_end(w->in->dispatch,
                     d->end_ns == INT64_MAX ? INFINITY : since(w, d->end_ns));
}

void distribution_set_comes(struct distribution *d,
                            int (*comes)(void *arg),
                            void *arg)
{
    d->comes = comes;
    d->comes_arg = arg;
}

void distribution_set_end(struct distribution *d, int64_t end_ns)
{
    d->end_ns = end_ns;
    for (size_t i = 0; i < d->window.n; i++)
        set_end(d, nth(d, i));
}

/* --- frames begin and come out -------------------------------------------- */

static void forget_first(struct distribution *d)
{
    forget_pieces(nth(d, 0));
    window_forget_first(&d->window);
}

double distribution_give_up(struct distribution *d)
{
    struct at_work *first = nth(d, 0);
    struct dispatch *held = first->in->dispatch;
    double until = now(first);

    for (size_t i = 0; i < dispatch_pieces(held); i++) {
        const struct dispatch_piece *p = dispatch_piece(held, i);

        if (p->state != PIECE_OUT)
            continue;
        dispatch_cancel(held, p->id, until);
        (void)distribution_renew(first, p->id); /* NULL: it was never sent */
    }
    return until;
}

void distribution_drop(struct distribution *d)
{
    struct at_work *first = nth(d, 0);

    if (window_close(&d->window))
        forget_pieces(first);
}

int distribution_close(struct distribution *d, struct es_error *err)
{
    struct at_work *first = nth(d, 0);

    if (!window_close(&d->window))
        return 0; /* it stays to be looked at */
    forget_pieces(first);
    return distribution_ask(d, err);
}

/* The place of one more frame. */
static struct at_work *open_place(struct distribution *d,
                                  const struct frame *frame,
                                  int is_kept)
{
    struct window_frame in = {.start = seconds_of(clock_ns()),
                              .type = frame->type,
                              .is_kept = is_kept,
                              .is_open = frame->is_open};
    struct at_work *w;

    if (window_is_full(&d->window))
        forget_first(d);
    w = nth(d, d->window.n);
    in.dispatch = w->of[frame->type];
    w->frame = *frame;
    (void)window_add(&d->window, &in, frame->most > 0);
    if (!(d->begun > 0))
        d->begun = in.start;
    set_end(d, w);
    return w;
}

int distribution_send(struct distribution *d,
                      const struct frame *frame,
                      const struct slice done[],
                      size_t n,
                      struct es_error *err)
{
    struct at_work *w = open_place(d, frame, 0);
    int is_begun;

    dispatch_expect(w->in->dispatch, frame->most);
    dispatch_set_growing(w->in->dispatch, frame->is_open);
    if (window_begin(&d->window, (struct slice){frame->begin, frame->end}, done,
                     n, &is_begun, TO_NODES(d, err))
        == 0)
        return 0;
    return is_begun ? -1 : es_no_memory(err);
}

int distribution_grow(struct distribution *d,
                      const struct frame *to,
                      struct es_error *err)
{
    struct at_work *w = nth(d, d->window.n - 1);
    int has_more = to->end > w->frame.end;

    if (has_more && dispatch_grow(w->in->dispatch, to->end) < 0)
        return es_no_memory(err);
    w->frame.end = to->end;
    w->frame.is_open = w->in->is_open = to->is_open;
    dispatch_set_growing(w->in->dispatch, to->is_open);
    return has_more ? distribution_feed(d, err) : 0;
}

void distribution_keep(struct distribution *d, const struct frame *frame)
{
    (void)open_place(d, frame, 1);
}

int distribution_wants_frame(const struct distribution *d)
{
    return window_wants_frame(&d->window);
}

int distribution_no_frame(struct distribution *d, struct es_error *err)
{
    return window_no_frame(&d->window, seconds_of(clock_ns()),
                           TO_NODES(d, err));
}

int distribution_ask(struct distribution *d, struct es_error *err)
{
    return window_ask(&d->window, seconds_of(clock_ns()), TO_NODES(d, err));
}

size_t distribution_open(const struct distribution *d)
{
    return window_open(&d->window);
}

const struct frame *distribution_newest(const struct distribution *d,
                                        uint64_t *left)
{
    const struct at_work *w = nth(d, d->window.n - 1);

    *left = dispatch_left(w->in->dispatch);
    return &w->frame;
}

int distribution_is_done(const struct distribution *d)
{
    return window_is_done(&d->window);
}

int distribution_is_kept(const struct distribution *d)
{
    return nth(d, 0)->in->is_kept;
}

/* --- how it stands -------------------------------------------------------- */

const struct frame *distribution_frame(const struct distribution *d)
{
    return &nth(d, 0)->frame;
}

int64_t distribution_start_ns(const struct distribution *d)
{
    return (int64_t)(nth(d, 0)->in->start * 1e9);
}

struct cost *distribution_cost(const struct distribution *d)
{
    return d->cost[nth(d, 0)->frame.type];
}

struct cost *distribution_cost_of(const struct distribution *d, size_t type)
{
    return d->cost[type];
}

double distribution_began(const struct distribution *d)
{
    return nth(d, 0)->in->start - d->begun;
}

const struct dispatch *distribution_dispatch(const struct distribution *d)
{
    return nth(d, 0)->in->dispatch;
}

const struct slots *distribution_slots(const struct distribution *d)
{
    return d->slots;
}

size_t distribution_out(const struct distribution *d, size_t node)
{
    const size_t *first = d->slots->first;
    size_t out = 0;

    for (size_t i = first[node]; i < first[node + 1]; i++)
        out += distribution_slot_out(d, i);
    return out;
}

size_t distribution_all_out(const struct distribution *d)
{
    size_t out = 0;

    for (size_t i = 0; i < d->slots->n; i++)
        out += distribution_slot_out(d, i);
    return out;
}

uint64_t distribution_left(const struct distribution *d)
{
    uint64_t left = 0;

    for (size_t i = 0; i < distribution_open(d); i++)
        if (!nth(d, i)->in->is_kept)
            left += dispatch_left(nth(d, i)->in->dispatch);
    return left;
}

const struct tail_node *distribution_tail(struct distribution *d)
{
    return dispatch_tail(nth(d, 0)->in->dispatch, now(nth(d, 0)));
}

struct piece *distribution_pieces(struct distribution *d, size_t *n)
{
    *n = nth(d, 0)->n;
    return nth(d, 0)->piece;
}

const char *distribution_name(const struct distribution *d, size_t slot)
{
    return session_node(d->session, d->slots->node[slot])->name;
}
