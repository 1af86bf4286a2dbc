/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The workers stand in a heap by when they finish what they work at; idle ones
 * finish at infinity.  Each event is a result, after which the worker goes on
 * with what it has in hand and the dispatcher is asked for more, or a look at
 * the tail.
 */
#include "policy/balance.h"
#include "policy/determination.h"
#include "policy/dispatch.h"
#include "policy/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How often a run looks, and what that may be of a frame at least. */
#define LOOK_S    0.05
#define LOOK_PART 0.002

struct hand { /* a piece that a worker has */
    uint64_t id;
    double work;    /* in mean units */
    double begun;   /* at the earliest */
    double seconds; /* that it takes, of a real one; else not yet known */
    double cpu;     /* likewise; else none tells it */
    double back;    /* likewise */
};

struct worker {
    double speed; /* true, units per second */
    double begun; /* what it works at, seconds */
    double finish;
    struct hand hand[DISPATCH_OUT]; /* the first is worked at */
    size_t n;
    size_t place; /* in the heap */
};

struct balance {
    struct balance_setup setup;
    struct rng rng;
    struct dispatch *dispatch;
    struct cost *cost;
    struct determination determination;
    uint64_t frame;
    size_t next_change;
    size_t idle; /* workers */
    double look; /* the next look at the tail, if there is one */
    double burn; /* units, that a piece costs */
    int is_over; /* a piece differs from the record */
    struct worker *worker;
    size_t *heap;
    double *load;
    struct metric *metric;
    void *policy;
};

/* --- begin and end -------------------------------------------------------- */

static int is_length(double x)
{
    return isfinite(x) && x >= 0;
}

int balance_setup_holds(const struct balance_setup *setup)
{
    if (setup->n == 0 || setup->units == 0 || setup->grain == 0
        || !is_length(setup->noise) || !is_length(setup->wait)
        || !is_length(setup->burn) || !is_length(setup->delay)
        || !is_length(setup->threshold.value))
        return 0;
    for (size_t i = 0; i < setup->n; i++)
        if (!is_length(setup->speed[i]) || setup->speed[i] <= 0
            || (setup->lag && !is_length(setup->lag[i])))
            return 0;
    for (size_t i = 0; i < setup->shapes * setup->shape_frames; i++)
        if (!is_length(setup->shape[i]) || setup->shape[i] <= 0)
            return 0;
    for (size_t i = 0; i < setup->n_changes; i++)
        if (setup->change[i].node >= setup->n
            || !is_length(setup->change[i].seconds)
            || !is_length(setup->change[i].speed)
            || setup->change[i].speed <= 0)
            return 0;
    return 1;
}

static int allocate(struct balance *s)
{
    const struct balance_setup *setup = &s->setup;
    size_t bytes = setup->policy->state_bytes(setup->n, setup->value);

    s->worker = calloc(setup->n, sizeof *s->worker);
    s->heap = calloc(setup->n, sizeof *s->heap);
    s->load = calloc(setup->n, sizeof *s->load);
    s->metric = calloc(setup->n, sizeof *s->metric);
    s->policy = bytes ? calloc(1, bytes) : NULL;
    s->dispatch = dispatch_create(setup->n, setup->grain, setup->pieces);
    s->cost = cost_create(setup->n, NULL);
    if (!s->worker || !s->heap || !s->load || !s->metric || !s->policy
        || !s->dispatch || !s->cost)
        return -1;
    return determination_init(&s->determination, setup->n);
}

int balance_start_policy(const struct balance_setup *setup,
                         struct metric metric[],
                         void *policy,
                         double load[])
{
    const struct profile profile = {.influence = {[ELEMENT_C] = 1}};
    struct policy_setup known = {setup->n, metric, &profile, setup->value};

    for (size_t i = 0; i < setup->n; i++) {
        metric[i].JL = setup->prior ? setup->prior[i] : 1;
        metric[i].X[ELEMENT_C] = metric[i].JL;
        metric[i].CU[ELEMENT_C] = 100; /* one element is all */
    }
    if (setup->metric) {
        known.metric = setup->metric;
        known.profile = setup->profile;
    }
    if (setup->policy->init(policy, &known) < 0)
        return -1;
    setup->policy->loads(policy, load);
    return 0;
}

void balance_expect_costs(struct cost *cost, const struct balance_setup *setup)
{
    if (setup->scaling_before)
        cost_expect_scaling(cost, setup->scaling_before);
    cost_expect(cost, &setup->before, setup->noise_before);
    if (setup->lag_before)
        cost_expect_lags(cost, setup->lag_before);
    if (setup->profile_before)
        cost_expect_profile(cost, setup->profile_before);
}

static int start_policy(struct balance *s)
{
    const struct balance_setup *setup = &s->setup;

    if (balance_start_policy(setup, s->metric, s->policy, s->load) < 0)
        return -1;
    for (size_t i = 0; setup->policy->bundles && i < setup->n; i++)
        setup->policy->bundles->set_threads(s->policy, i, setup->processors,
                                            setup->processors);
    dispatch_set_policy(s->dispatch, setup->policy, s->policy, s->load);
    dispatch_set_cost(s->dispatch, s->cost);
    balance_expect_costs(s->cost, setup);
    return 0;
}

struct balance *balance_create(const struct balance_setup *setup)
{
    struct balance *s =
        balance_setup_holds(setup) ? calloc(1, sizeof *s) : NULL;

    if (!s)
        return NULL;
    s->setup = *setup;
    if (allocate(s) < 0 || start_policy(s) < 0) {
        balance_destroy(s);
        return NULL;
    }
    random_init(&s->rng, GENERATOR_LCG32, setup->seed);
    s->burn = balance_burn(setup);
    for (size_t i = 0; i < setup->n; i++)
        s->worker[i].speed = setup->speed[i];
    return s;
}

void balance_destroy(struct balance *s)
{
    if (!s)
        return;
    dispatch_destroy(s->dispatch);
    cost_destroy(s->cost);
    determination_clear(&s->determination);
    free(s->worker);
    free(s->heap);
    free(s->load);
    free(s->metric);
    free(s->policy);
    free(s);
}

/* --- the heap ------------------------------------------------------------- */

static double finish_at(const struct balance *s, size_t place)
{
    return s->worker[s->heap[place]].finish;
}

static void swap(struct balance *s, size_t a, size_t b)
{
    size_t was = s->heap[a];

    s->heap[a] = s->heap[b];
    s->heap[b] = was;
    s->worker[s->heap[a]].place = a;
    s->worker[s->heap[b]].place = b;
}

/* A worker's finish has changed. */
static void restore(struct balance *s, size_t node)
{
    size_t n = s->setup.n, at = s->worker[node].place;

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

double balance_burn(const struct balance_setup *setup)
{
    double fastest = 0;

    for (size_t i = 0; i < setup->n; i++)
        fastest = fmax(fastest, setup->speed[i]);
    return setup->burn * fastest;
}

/* The work before a unit, by the frame's shape. */
static double work_before(const struct balance_setup *setup,
                          uint64_t frame,
                          uint64_t unit)
{
    size_t last = setup->shape_frames - 1, n = setup->shapes;
    const double *first = setup->shape, *shape;
    double at, sum = 0, all = 0;

    if (n == 0)
        return (double)unit;
    shape = first + n * (frame < last ? frame : last);
    at = (double)unit / (double)setup->units * (double)n;
    for (size_t i = 0; i < n; i++) {
        all += first[i];
        sum += shape[i] * fmin(fmax(at - (double)i, 0), 1);
    }
    return sum / all * (double)setup->units;
}

double balance_wait(const struct balance_setup *setup, size_t node)
{
    return setup->wait + (setup->lag ? setup->lag[node] : 0);
}

double balance_work(const struct balance_setup *setup,
                    uint64_t frame,
                    struct slice units)
{
    return work_before(setup, frame, units.end)
           - work_before(setup, frame, units.begin);
}

/* A worker begins with the first that it has. */
static void begin(struct balance *s, size_t node, double at)
{
    struct worker *w = &s->worker[node];
    struct hand *h = &w->hand[0];
    double noise = s->setup.noise;

    w->begun = at;
    if (s->setup.record)
        w->finish = h->back;
    else
        w->finish =
            at + balance_wait(&s->setup, node) + s->burn / w->speed
            + h->work / w->speed
                  * (noise > 0 ? exp(noise * random_normal(&s->rng)) : 1);
    restore(s, node);
}

/* Is the piece that one of the record?  Then it takes as long. */
static int is_recorded(struct balance *s,
                       const struct dispatch_piece *p,
                       uint64_t place,
                       struct hand *h)
{
    const struct balance_record *record = &s->setup.record[s->frame];
    const struct balance_piece *was = &record->piece[place];

    if (place >= record->n || was->node != p->node
        || was->units.begin != p->units.begin || was->units.end != p->units.end
        || was->sent < p->sent || was->sent > p->sent)
        return 0;
    h->back = was->back;
    h->seconds = was->seconds;
    h->cpu = was->cpu;
    return 1;
}

static void take(struct balance *s,
                 const struct dispatch_piece *p,
                 struct balance_frame *f)
{
    struct worker *w = &s->worker[p->node];
    struct hand *h = &w->hand[w->n];

    *h = (struct hand){.id = p->id,
                       .work = balance_work(&s->setup, s->frame, p->units),
                       .begun = p->sent + s->setup.delay};
    if (s->setup.record && !is_recorded(s, p, f->same, h)) {
        s->is_over = 1;
        return;
    }
    f->same++;
    f->messages++;
    if (w->n++ == 0) {
        s->idle--;
        begin(s, p->node, h->begun);
    }
}

/* What the dispatcher has decided goes to the workers. */
static int take_all(struct balance *s, int rc, struct balance_frame *f)
{
    const struct dispatch_piece *p;

    while (rc == 0 && !s->is_over && (p = dispatch_next(s->dispatch)) != NULL)
        take(s, p, f);
    return rc;
}

/* --- a frame -------------------------------------------------------------- */

static int start_frame(struct balance *s, struct balance_frame *f)
{
    const struct balance_setup *setup = &s->setup;

    *f = (struct balance_frame){.first = 0};
    s->idle = setup->n;
    s->look = INFINITY;
    for (size_t i = 0; i < setup->n; i++) {
        s->worker[i] = (struct worker){
            .speed = s->worker[i].speed, .finish = INFINITY, .place = i};
        s->heap[i] = i;
    }
    if (dispatch_begin(s->dispatch, (struct slice){0, setup->units}, NULL, 0)
        < 0)
        return -1;
    return take_all(s, dispatch_feed(s->dispatch, 0), f);
}

static int look(struct balance *s, double now, struct balance_frame *f)
{
    int rc;

    s->look = INFINITY;
    rc = take_all(s, dispatch_feed(s->dispatch, now), f);
    if (rc == 0 && !s->setup.record && s->idle > 0
        && dispatch_waiting(s->dispatch) == 0
        && dispatch_pool(s->dispatch)->units > 0)
        s->look = now + fmax(LOOK_S, now * LOOK_PART);
    return rc;
}

/* Idle workers look again after each result, if that is not too often. */
static int look_again(struct balance *s, double now, struct balance_frame *f)
{
    if (s->setup.record || s->idle == 0)
        return 0;
    if (dispatch_waiting(s->dispatch) == 0) {
        s->look =
            dispatch_pool(s->dispatch)->units > 0 ? now + LOOK_S : INFINITY;
        return 0;
    }
    s->look =
        fmax(now, dispatch_looked(s->dispatch) + dispatch_gap(s->dispatch));
    return s->look > now ? 0 : look(s, now, f);
}

static int finish(struct balance *s, size_t node, struct balance_frame *f)
{
    struct worker *w = &s->worker[node];
    struct hand done = w->hand[0];
    double now = w->finish, begun = w->begun;

    f->messages++;
    w->n--;
    memmove(w->hand, w->hand + 1, w->n * sizeof *w->hand);
    w->finish = INFINITY;
    if (w->n == 0) {
        s->idle++;
        restore(s, node);
    } else {
        begin(s, node, fmax(now, w->hand[0].begun));
    }
    dispatch_answered(s->dispatch, done.id, now,
                      s->setup.record ? done.seconds : now - begun, done.cpu);
    if (take_all(s, dispatch_feed_node(s->dispatch, node, now), f) < 0)
        return -1;
    return look_again(s, now, f);
}

/* What a worker works at goes on at the new speed. */
static void change_speed(struct balance *s, const struct balance_change *c)
{
    struct worker *w = &s->worker[c->node];

    if (w->n > 0) {
        double from = fmax(c->seconds, w->begun);

        w->finish = from + (w->finish - from) * (w->speed / c->speed);
        restore(s, c->node);
    }
    w->speed = c->speed;
}

/* The next change of this frame that comes before `until`, or NULL. */
static const struct balance_change *next_change(const struct balance *s,
                                                double until)
{
    const struct balance_change *c = &s->setup.change[s->next_change];

    if (s->next_change == s->setup.n_changes || c->frame > s->frame)
        return NULL;
    return c->frame < s->frame || c->seconds < until ? c : NULL;
}

/* When the real run took a look at all nodes by which it sent something. */
static double recorded_look(const struct balance *s)
{
    const struct balance_record *record;
    size_t next = dispatch_pieces(s->dispatch);

    if (!s->setup.record)
        return INFINITY;
    record = &s->setup.record[s->frame];
    return next < record->n ? record->piece[next].sent : INFINITY;
}

/* The next event of the frame; 0 if there is none. */
static int next_event(struct balance *s, struct balance_frame *f)
{
    double end = finish_at(s, 0), at = fmin(s->look, recorded_look(s));
    const struct balance_change *c = next_change(s, fmin(end, at));
    size_t before = dispatch_pieces(s->dispatch);

    if (c) {
        change_speed(s, c);
        s->next_change++;
        return 1;
    }
    if (at < end) {
        if (look(s, at, f) < 0)
            return -1;
        /* ... and with less than that the record is another's. */
        s->is_over |= s->setup.record && dispatch_pieces(s->dispatch) == before;
        return 1;
    }
    if (!(end < INFINITY))
        return 0;
    return finish(s, s->heap[0], f) < 0 ? -1 : 1;
}

static void adjust(struct balance *s, struct balance_frame *f)
{
    struct determination *t = &s->determination;

    determination_weigh(t, s->dispatch, &s->setup.threshold);
    f->first = t->first;
    f->last = t->last;
    f->busy = t->busy;
    f->taken = dispatch_taken(s->dispatch);
    if (!s->setup.policy->bundles)
        f->adjusted =
            s->setup.policy->adjust(s->policy, t->completion, t->over, s->load);
}

int balance_next(struct balance *s, struct balance_frame *frame)
{
    const struct balance_change *c;
    int rc = start_frame(s, frame);

    if (rc == 0)
        rc = 1;
    while (rc > 0 && !s->is_over)
        rc = next_event(s, frame);
    while ((c = next_change(s, INFINITY)) != NULL) {
        change_speed(s, c);
        s->next_change++;
    }
    if (rc == 0)
        adjust(s, frame);
    frame->differs = s->is_over;
    s->frame++;
    return rc < 0 ? -1 : 0;
}

uint64_t balance_done(const struct balance *s, size_t node)
{
    return dispatch_node(s->dispatch, node)->done;
}
