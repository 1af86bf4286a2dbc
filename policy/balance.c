/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The workers stand in a heap by when they finish what they work at; idle ones
 * finish at infinity.  Each event is a result, after which the worker goes on
 * with what it has in hand and is sent more.
 */
#include "policy/balance.h"
#include "policy/random.h"
#include "policy/shares.h"
#include "policy/tail.h"
#include "policy/tasks.h"

#include <math.h>
#include <string.h>

struct worker {
    double speed;                   /* true, units per second */
    double known;                   /* as measured last; 0 = not yet */
    double begun, finish;           /* what it works at, seconds */
    double next_begun;              /* what it has in hand, at the earliest */
    double busy, back;              /* seconds worked; last response */
    uint64_t current, next;         /* units worked at, in hand; 0 = none */
    uint64_t slice, chunk, waiting; /* own; in pieces now; not yet sent */
    uint64_t done;
    size_t place; /* in the heap */
};

struct sim {
    const struct balance_setup *setup;
    struct rng rng;
    struct threshold_noise noise;
    uint64_t frame, rest; /* units of it that nobody has: bundles */
    size_t next_change;
    struct tasks tasks; /* for bundle policies */
    double start;       /* units, that a piece costs */
    /* n each, and the policy's state, behind this */
    struct worker *worker;
    size_t *heap;
    double *load;
    struct slice *slice;
    struct completion *completion;
    struct tail_node *tail;
    struct metric *metric;
    void *policy;
};

static size_t bytes_each(void)
{
    return sizeof(struct worker) + sizeof(size_t) + sizeof(double)
           + sizeof(struct slice) + sizeof(struct completion)
           + sizeof(struct tail_node) + sizeof(struct metric);
}

size_t balance_bytes(const struct balance_setup *setup)
{
    size_t policy = setup->policy->state_bytes(setup->n, setup->value);

    if (policy == 0 || policy > SIZE_MAX / 2
        || setup->n > (SIZE_MAX / 2 - sizeof(struct sim)) / bytes_each())
        return 0;
    return sizeof(struct sim) + setup->n * bytes_each() + policy;
}

static void place_arrays(struct sim *s, size_t n)
{
    s->worker = (struct worker *)(void *)(s + 1);
    s->heap = (size_t *)(void *)(s->worker + n);
    s->load = (double *)(void *)(s->heap + n);
    s->slice = (struct slice *)(void *)(s->load + n);
    s->completion = (struct completion *)(void *)(s->slice + n);
    s->tail = (struct tail_node *)(void *)(s->completion + n);
    s->metric = (struct metric *)(void *)(s->tail + n);
    s->policy = s->metric + n;
}

static int is_length(double x)
{
    return isfinite(x) && x >= 0;
}

static int setup_holds(const struct balance_setup *setup)
{
    if (setup->n == 0 || setup->units == 0 || setup->grain == 0
        || setup->pieces == 0 || !is_length(setup->noise)
        || !is_length(setup->start) || !is_length(setup->delay)
        || !is_length(setup->threshold.value))
        return 0;
    for (size_t i = 0; i < setup->n; i++)
        if (!is_length(setup->speed[i]) || setup->speed[i] <= 0)
            return 0;
    for (size_t i = 0; i < setup->n_changes; i++)
        if (setup->change[i].node >= setup->n
            || !is_length(setup->change[i].seconds)
            || !is_length(setup->change[i].speed)
            || setup->change[i].speed <= 0)
            return 0;
    return 1;
}

int balance_init(void *state, const struct balance_setup *setup)
{
    const struct profile profile = {.influence = {[ELEMENT_C] = 1}};
    struct sim *s = state;
    struct policy_setup policy = {
        .n = setup->n, .profile = &profile, .value = setup->value};

    if (!setup_holds(setup))
        return -1;
    memset(s, 0, sizeof *s);
    place_arrays(s, setup->n);
    s->setup = setup;
    random_init(&s->rng, GENERATOR_LCG32, setup->seed);
    memset(s->metric, 0, setup->n * sizeof *s->metric);
    for (size_t i = 0; i < setup->n; i++) {
        s->worker[i] = (struct worker){.speed = setup->speed[i]};
        s->metric[i].JL = setup->prior ? setup->prior[i] : 1;
        s->metric[i].X[ELEMENT_C] = s->metric[i].JL;
        s->metric[i].CU[ELEMENT_C] = 100; /* seed 1, step 6 */
        s->start = fmax(s->start, setup->start * setup->speed[i]);
    }
    policy.metric = s->metric;
    s->tasks = tasks_of(setup->units, setup->grain);
    if (setup->policy->init(s->policy, &policy) < 0)
        return -1;
    setup->policy->loads(s->policy, s->load);
    return 0;
}

/* --- the heap ------------------------------------------------------------- */

static double finish_at(const struct sim *s, size_t place)
{
    return s->worker[s->heap[place]].finish;
}

static void swap(struct sim *s, size_t a, size_t b)
{
    size_t was = s->heap[a];

    s->heap[a] = s->heap[b];
    s->heap[b] = was;
    s->worker[s->heap[a]].place = a;
    s->worker[s->heap[b]].place = b;
}

/* A worker's finish has changed. */
static void restore(struct sim *s, size_t node)
{
    size_t n = s->setup->n, at = s->worker[node].place;

    while (at > 0 && finish_at(s, at) < finish_at(s, (at - 1) / 2)) {
        swap(s, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 < n && finish_at(s, child + 1) < finish_at(s, child))
            child++;
        if (child >= n || finish_at(s, at) <= finish_at(s, child))
            break;
        swap(s, at, child);
        at = child;
    }
}

/* --- pieces --------------------------------------------------------------- */

static void begin(struct sim *s, size_t node, uint64_t units, double at)
{
    struct worker *w = &s->worker[node];
    double noise = s->setup->noise;

    w->current = units;
    w->begun = at;
    w->finish = at + s->start / w->speed
                + (double)units / w->speed
                      * (noise > 0 ? exp(noise * random_normal(&s->rng)) : 1);
    restore(s, node);
}

/* Units that a bundle policy sends next, out of what nobody has. */
static uint64_t next_bundle(struct sim *s, size_t node)
{
    if (s->rest == 0)
        return 0;
    return tasks_next(&s->tasks, s->setup->policy->bundles, s->policy, node,
                      s->rest);
}

/* The next piece of what waits at a worker, which is idle. */
static uint64_t next_piece(struct sim *s, struct worker *w)
{
    uint64_t pieces = s->setup->pieces, units;

    if (w->known > 0)
        pieces = tail_pieces((double)w->chunk / w->known, pieces);
    units = tail_piece(w->chunk, w->waiting, s->setup->grain, pieces);
    w->waiting -= units;
    return units;
}

/* Send a worker one more, if there is any; returns whether. */
static int send(struct sim *s, size_t node, double now, struct balance_frame *f)
{
    struct worker *w = &s->worker[node];
    uint64_t units;

    if (s->setup->policy->bundles) {
        units = next_bundle(s, node);
        s->rest -= units;
    } else {
        units = w->current > 0 ? 0 : next_piece(s, w);
    }
    if (units == 0)
        return 0;
    f->messages++;
    if (w->current == 0) {
        begin(s, node, units, now + s->setup->delay);
    } else {
        w->next = units;
        w->next_begun = now + s->setup->delay;
    }
    return 1;
}

/* Two at once: one to work at, one in hand. */
static void send_first(struct sim *s,
                       size_t node,
                       double now,
                       struct balance_frame *f)
{
    if (send(s, node, now, f))
        (void)send(s, node, now, f);
}

/* --- the tail ------------------------------------------------------------- */

/* The fastest idle worker; n if there is none. */
static size_t fastest_idle(const struct sim *s)
{
    size_t n = s->setup->n, best = n;

    for (size_t i = 0; i < n; i++)
        if (s->worker[i].current == 0
            && (best == n || s->worker[i].known > s->worker[best].known))
            best = i;
    return best;
}

static void view_tail(struct sim *s, double now)
{
    for (size_t i = 0; i < s->setup->n; i++) {
        const struct worker *w = &s->worker[i];

        s->tail[i] = (struct tail_node){
            .speed = w->known,
            .running = w->current + w->next,
            .since = fmax(now - w->begun, 0),
            .waiting = w->waiting,
        };
    }
}

/* Idle workers take over, the fastest first, as long as that helps. */
static void take_over(struct sim *s, double now, struct balance_frame *f)
{
    size_t idle;

    while ((idle = fastest_idle(s)) < s->setup->n) {
        struct tail_move move;

        view_tail(s, now);
        if (!tail_take(s->tail, s->setup->n, idle, s->setup->grain,
                       s->setup->delay + s->start / s->worker[idle].speed,
                       &move))
            return;
        s->worker[move.from].waiting -= move.units;
        s->worker[idle].waiting = s->worker[idle].chunk = move.units;
        f->taken += move.units;
        send_first(s, idle, now, f);
    }
}

/* --- a frame -------------------------------------------------------------- */

static void start_frame(struct sim *s, struct balance_frame *f)
{
    const struct balance_setup *setup = s->setup;

    *f = (struct balance_frame){.first = INFINITY};
    s->rest = setup->units;
    if (setup->policy->bundles)
        setup->policy->bundles->set_context(s->policy, s->tasks.frame);
    if (shares_cut(0, setup->units, setup->grain, s->load, s->slice, setup->n)
        < 0)
        memset(s->slice, 0, setup->n * sizeof *s->slice);
    for (size_t i = 0; i < setup->n; i++) {
        struct worker *w = &s->worker[i];
        uint64_t units =
            setup->policy->bundles ? 0 : s->slice[i].end - s->slice[i].begin;

        *w = (struct worker){.speed = w->speed,
                             .known = w->known,
                             .finish = INFINITY,
                             .slice = units,
                             .chunk = units,
                             .waiting = units,
                             .place = i};
        s->heap[i] = i;
    }
    /* All get one before any gets a second, which may be of another's share. */
    for (size_t i = 0; i < setup->n; i++)
        (void)send(s, i, 0, f);
    for (size_t i = 0; i < setup->n; i++)
        (void)send(s, i, 0, f);
}

static void finish(struct sim *s, size_t node, struct balance_frame *f)
{
    struct worker *w = &s->worker[node];
    double now = w->finish;

    if (s->setup->policy->bundles)
        s->setup->policy->bundles->feedback(s->policy, node,
                                            tasks_in(&s->tasks, w->current),
                                            (now - w->begun) * 1e9);
    w->done += w->current;
    w->busy += now - w->begun;
    w->back = now;
    w->known = (double)w->done / w->busy;
    w->current = 0;
    w->finish = INFINITY;
    f->messages++;
    if (w->next > 0) {
        uint64_t next = w->next;

        w->next = 0;
        begin(s, node, next, fmax(now, w->next_begun));
        (void)send(s, node, now, f);
    } else {
        restore(s, node);
        send_first(s, node, now, f);
    }
    if (!s->setup->policy->bundles && s->setup->pieces > 1)
        take_over(s, now, f);
}

/* What a worker works at goes on at the new speed. */
static void change_speed(struct sim *s, const struct balance_change *c)
{
    struct worker *w = &s->worker[c->node];

    if (w->current > 0) {
        double from = fmax(c->seconds, w->begun);

        w->finish = from + (w->finish - from) * (w->speed / c->speed);
        restore(s, c->node);
    }
    w->speed = c->speed;
}

/* The next change of this frame that comes before `until`, or NULL. */
static const struct balance_change *next_change(const struct sim *s,
                                                double until)
{
    const struct balance_change *c = &s->setup->change[s->next_change];

    if (s->next_change == s->setup->n_changes || c->frame > s->frame)
        return NULL;
    return c->frame < s->frame || c->seconds < until ? c : NULL;
}

/* What the policy hears of the frame; returns the difference of responses. */
static double weigh(struct sim *s, struct balance_frame *f)
{
    double first = INFINITY, last = 0, busy = 0;

    for (size_t i = 0; i < s->setup->n; i++) {
        const struct worker *w = &s->worker[i];
        struct completion *c = &s->completion[i];

        *c = (struct completion){.units = w->done > 0 ? w->slice : 0};
        c->seconds = tail_unaided(w->slice, w->done, w->back);
        busy += w->busy;
        if (w->done > 0) {
            f->first = fmin(f->first, w->back);
            f->last = fmax(f->last, w->back);
        }
        if (c->units > 0) {
            first = fmin(first, c->seconds);
            last = fmax(last, c->seconds);
        }
    }
    f->efficiency = busy / ((double)s->setup->n * f->last);
    return last > first ? last - first : 0;
}

void balance_next(void *state, struct balance_frame *frame)
{
    struct sim *s = state;
    const struct balance_setup *setup = s->setup;
    const struct balance_change *c;
    double difference, threshold;

    start_frame(s, frame);
    while (finish_at(s, 0) < INFINITY) {
        c = next_change(s, finish_at(s, 0));
        if (c) {
            change_speed(s, c);
            s->next_change++;
        } else {
            finish(s, s->heap[0], frame);
        }
    }
    while ((c = next_change(s, INFINITY)) != NULL) {
        change_speed(s, c);
        s->next_change++;
    }
    s->frame++;
    difference = weigh(s, frame);
    if (setup->policy->bundles)
        return;
    threshold = threshold_seconds(&setup->threshold, &s->noise, s->completion,
                                  setup->n, setup->grain);
    threshold_hear(&s->noise, s->completion, setup->n);
    frame->adjusted = setup->policy->adjust(s->policy, s->completion,
                                            difference > threshold, s->load);
}

uint64_t balance_done(const void *state, size_t node)
{
    const struct sim *s = state;

    return s->worker[node].done;
}
