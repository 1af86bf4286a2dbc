/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/window_simulation.h"
#include "policy/level.h"
#include "policy/random.h"
#include "policy/window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_SHIFT 56 /* a piece's id begins with its place */

struct hand { /* a piece that a worker has */
    uint64_t id;
    size_t place;
    double work;  /* in mean units */
    double begun; /* at the earliest */
};

struct worker {
    double begun, finish;           /* what it works at; INFINITY: nothing */
    struct hand hand[DISPATCH_OUT]; /* the first is worked at */
    size_t n;
};

struct simulation {
    const struct balance_setup *setup;
    struct window window;
    struct window_sender to;
    struct rng rng;
    struct cost *cost;
    void *policy;
    double *load;
    struct metric *metric;
    struct dispatch **dispatch; /* one a place */
    struct worker *worker;
    uint64_t *number; /* of the frame at each place */
    uint64_t frames, begun;
    double burn, now, looked; /* seconds; burn: units, that a piece costs */
    struct window_outcome *out;
};

/* --- pieces --------------------------------------------------------------- */

/* A worker begins with the first that it has. */
static void begin(struct simulation *s, size_t node, double at)
{
    const struct balance_setup *setup = s->setup;
    struct worker *w = &s->worker[node];
    double noise =
        setup->noise > 0 ? exp(setup->noise * random_normal(&s->rng)) : 1;

    w->begun = at;
    w->finish = at + balance_wait(setup, node)
                + (s->burn + w->hand[0].work * noise) / setup->speed[node];
}

static void take(struct simulation *s,
                 size_t place,
                 const struct dispatch_piece *p)
{
    struct worker *w = &s->worker[p->node];
    double start = s->window.place[place].start;

    w->hand[w->n] = (struct hand){
        .id = p->id,
        .place = place,
        .work = balance_work(s->setup, s->number[place], p->units),
        .begun = start + p->sent + s->setup->delay,
    };
    s->out->pieces++;
    if (w->n++ == 0)
        begin(s, p->node, w->hand[0].begun);
}

static int send(void *arg, size_t place, int fed)
{
    struct simulation *s = arg;
    const struct dispatch_piece *p;

    if (fed < 0)
        return -1;
    while ((p = dispatch_next(s->dispatch[place])) != NULL) {
        if (s->worker[p->node].n == DISPATCH_OUT)
            return -1;
        take(s, place, p);
    }
    return 0;
}

/* --- frames --------------------------------------------------------------- */

static int begin_frame(struct simulation *s)
{
    struct window *w = &s->window;
    struct window_frame frame = {.start = s->now};
    size_t place;
    int is_begun;

    if (window_is_full(w))
        window_forget_first(w);
    place = window_place(w, w->n);
    frame.dispatch = s->dispatch[place];
    s->number[place] = s->begun++;
    (void)window_add(w, &frame, s->begun < s->frames);
    return window_begin(w, (struct slice){0, s->setup->units}, NULL, 0,
                        &is_begun, &s->to);
}

/* All that can come out or begin now: 1 if all is done, 0, or -1. */
static int go_on(struct simulation *s)
{
    struct window *w = &s->window;

    for (;;) {
        while (window_is_done(w))
            if (window_close(w) && window_ask(w, s->now, &s->to) < 0)
                return -1;
        if (!window_wants_frame(w))
            return 0;
        if (s->begun < s->frames) {
            if (begin_frame(s) < 0)
                return -1;
            continue;
        }
        if (window_no_frame(w, s->now, &s->to) < 0)
            return -1;
        if (window_open(w) == 0)
            return 1;
        if (!window_is_done(w))
            return 0;
    }
}

/* --- events --------------------------------------------------------------- */

/* The node that is done first. */
static size_t next_node(const struct simulation *s)
{
    size_t first = 0;

    for (size_t i = 1; i < s->setup->n; i++)
        if (s->worker[i].finish < s->worker[first].finish)
            first = i;
    return first;
}

/* When a look at all nodes is due; INFINITY: nobody wishes one. */
static double next_look(const struct simulation *s)
{
    const struct window *w = &s->window;

    for (size_t i = 0; i < w->n; i++)
        if (dispatch_wants_look(window_nth(w, i)->dispatch))
            return fmax(s->now, s->looked)
                   + dispatch_gap(window_nth(w, 0)->dispatch);
    return INFINITY;
}

/* What one frame has learned of a node, the others know, too; and one of them may
 * have its next piece. */
static void tell_others(struct simulation *s, size_t node, size_t place)
{
    const struct window_frame *next = window_working_at(&s->window, node);

    for (size_t k = 0; k < s->window.places; k++)
        if (k != place)
            dispatch_share(s->dispatch[k], node, s->dispatch[place]);
    if (next && next != &s->window.place[place])
        dispatch_turn(next->dispatch, node, s->now - next->start);
}

static int finish(struct simulation *s, size_t node)
{
    struct worker *w = &s->worker[node];
    struct hand done = w->hand[0];
    double seconds = w->finish - w->begun;

    s->now = w->finish;
    w->n--;
    memmove(w->hand, w->hand + 1, w->n * sizeof *w->hand);
    w->finish = INFINITY;
    if (w->n > 0)
        begin(s, node, fmax(s->now, w->hand[0].begun));
    dispatch_answered(s->dispatch[done.place], done.id,
                      s->now - s->window.place[done.place].start, seconds, 0);
    tell_others(s, node, done.place);
    return window_feed_node(&s->window, node, s->now, &s->to);
}

/* The next event; 1 if all is done, 0, or -1. */
static int next_event(struct simulation *s)
{
    size_t node = next_node(s);
    double look = next_look(s);
    int rc;

    if (look < s->worker[node].finish) {
        s->now = s->looked = look;
        rc = window_feed(&s->window, s->now, &s->to);
    } else if (s->worker[node].finish < INFINITY) {
        rc = finish(s, node);
    } else {
        return -1; /* nobody works, and something is left */
    }
    return rc < 0 ? -1 : go_on(s);
}

/* --- begin and end -------------------------------------------------------- */

static int allocate(struct simulation *s, size_t places)
{
    const struct balance_setup *setup = s->setup;

    window_init(&s->window, calloc(places, sizeof *s->window.place), places,
                setup->n);
    s->dispatch = calloc(places, sizeof(struct dispatch *));
    s->number = calloc(places, sizeof *s->number);
    s->worker = calloc(setup->n, sizeof *s->worker);
    s->load = calloc(setup->n, sizeof *s->load);
    s->metric = calloc(setup->n, sizeof *s->metric);
    s->policy = calloc(1, setup->policy->state_bytes(setup->n, setup->value));
    s->cost = cost_create(setup->n, NULL);
    if (!s->window.place || !s->dispatch || !s->number || !s->worker || !s->load
        || !s->metric || !s->policy || !s->cost)
        return -1;
    for (size_t k = 0; k < places; k++) {
        s->dispatch[k] = dispatch_create(setup->n, setup->grain, setup->pieces);
        if (!s->dispatch[k])
            return -1;
        dispatch_number(s->dispatch[k], (uint64_t)k << PLACE_SHIFT);
    }
    return 0;
}

static void clear(struct simulation *s)
{
    for (size_t k = 0; s->dispatch && k < s->window.places; k++)
        dispatch_destroy(s->dispatch[k]);
    cost_destroy(s->cost);
    free(s->dispatch);
    free(s->window.place);
    free(s->number);
    free(s->worker);
    free(s->load);
    free(s->metric);
    free(s->policy);
}

static int start_all(struct simulation *s)
{
    const struct balance_setup *setup = s->setup;

    if (balance_start_policy(setup, s->metric, s->policy, s->load) < 0)
        return -1;
    for (size_t k = 0; k < s->window.places; k++) {
        dispatch_set_policy(s->dispatch[k], setup->policy, s->policy, s->load);
        dispatch_set_cost(s->dispatch[k], s->cost);
    }
    balance_expect_costs(s->cost, setup);
    random_init(&s->rng, GENERATOR_LCG32, setup->seed);
    s->burn = balance_burn(setup);
    for (size_t i = 0; i < setup->n; i++)
        s->worker[i].finish = INFINITY;
    return go_on(s);
}

int window_simulate(const struct balance_setup *setup,
                    uint64_t frames,
                    uint64_t ahead,
                    struct window_outcome *out)
{
    struct simulation s = {.setup = setup, .frames = frames, .out = out};
    int rc = -1;

    *out = (struct window_outcome){0};
    s.to = (struct window_sender){send, &s};
    if (balance_setup_holds(setup) && allocate(&s, (size_t)ahead + 1) == 0)
        rc = start_all(&s);
    while (rc == 0)
        rc = next_event(&s);
    out->seconds = s.now;
    clear(&s);
    return rc < 0 ? -1 : 0;
}

double window_ideal(const struct balance_setup *setup, uint64_t frames)
{
    double *free_at = calloc(setup->n, sizeof *free_at), work = 0, seconds = 0;
    const struct cost_terms terms = {
        .wait = setup->wait, .burn = balance_burn(setup), .each = 1};

    for (uint64_t f = 0; f < frames; f++)
        work += balance_work(setup, f, (struct slice){0, setup->units});
    for (size_t i = 0; free_at && setup->lag && i < setup->n; i++)
        free_at[i] = setup->lag[i];
    if (free_at)
        seconds = level_find(free_at, setup->speed, setup->n, &terms, work);
    free(free_at);
    return seconds;
}
