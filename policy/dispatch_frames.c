/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A dispatcher's life, its frames, what happens to it, and how it stands; see
 * dispatch_state.h for the rest.
 */
#include "policy/bundles.h"
#include "policy/dispatch_state.h"
#include "policy/pace.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A piece whose seconds are so far off is no noise; relative. */
#define SURPRISE_LEAST 0.3
/* Of all nodes one in so many must surprise for a fit within a frame. */
#define FIT_PART 16
/* Where nothing hangs on a fit but figures, one in so many gaps (pace.h). */
#define FIT_SELDOM 16

struct dispatch *dispatch_create(size_t nodes, uint64_t grain, uint64_t pieces)
{
    struct dispatch *d = calloc(1, sizeof *d);

    if (!d)
        return NULL;
    d->nodes = nodes;
    d->grain = grain;
    d->most_pieces = pieces;
    d->rule.retries = UINT_MAX;
    d->fitted = -INFINITY;
    d->end = INFINITY;
    d->node = calloc(nodes, sizeof *d->node);
    d->load = calloc(nodes, sizeof *d->load);
    d->cut = calloc(nodes, sizeof *d->cut);
    d->head = calloc(nodes, sizeof *d->head);
    d->tail = calloc(nodes, sizeof *d->tail);
    d->room = calloc(nodes, sizeof *d->room);
    if (sizing_init(&d->sizing, nodes) == 0 && d->node && d->load && d->cut
        && d->head && d->tail && d->room)
        return d;
    dispatch_destroy(d);
    return NULL;
}

void dispatch_destroy(struct dispatch *d)
{
    if (!d)
        return;
    free(d->piece);
    unit_pool_clear(&d->pool);
    free(d->node);
    free(d->load);
    free(d->cut);
    free(d->head);
    free(d->tail);
    free(d->room);
    sizing_clear(&d->sizing);
    free(d);
}

void dispatch_set_policy(struct dispatch *d,
                         const struct policy_kind *kind,
                         void *state,
                         const double load[])
{
    d->kind = kind;
    d->state = state;
    d->asked = load;
    d->sizing.kind = kind;
}

void dispatch_set_cost(struct dispatch *d, struct cost *cost)
{
    d->sizing.cost = cost;
    dispatch_tell_speeds(d);
}

void dispatch_tell_speeds(struct dispatch *d)
{
    for (size_t i = 1; i < d->nodes; i++)
        if (d->asked[i] < d->asked[0] || d->asked[i] > d->asked[0]) {
            cost_expect_speeds(d->sizing.cost, d->asked);
            return;
        }
}

const struct cost *dispatch_cost(const struct dispatch *d)
{
    return d->sizing.cost;
}

double dispatch_work_of(const struct dispatch *d,
                        const struct dispatch_piece *p)
{
    return sizing_work(&d->sizing, p->units);
}

void dispatch_set_failure_rule(struct dispatch *d,
                               const struct failure_rule *rule)
{
    d->rule = *rule;
}

void dispatch_set_speculation(struct dispatch *d, int on)
{
    d->speculates = on;
}

void dispatch_set_end(struct dispatch *d, double end)
{
    d->end = end;
}

void dispatch_set_groups(struct dispatch *d, const size_t group[])
{
    d->group = group;
}

void dispatch_set_speeds(struct dispatch *d, const double speed[])
{
    d->speed = speed;
}

void dispatch_set_overlap(struct dispatch *d, const char *may)
{
    d->overlap = may;
}

/* --- a frame -------------------------------------------------------------- */

/* Of a node what it is stays, and what it did goes. */
static void forget_frame(struct dispatch *d)
{
    d->first_id += d->n;
    d->n = d->next = d->out = d->waiting = 0;
    d->taken = d->left_out = 0;
    d->looked = -INFINITY;
    d->wants_look = 0;
    d->fitted -= d->answered;
    d->answered = 0;
    for (size_t i = 0; i < d->nodes; i++) {
        struct dispatch_node *s = &d->node[i];

        *s = (struct dispatch_node){.elsewhere = s->elsewhere,
                                    .is_awaited = s->is_awaited,
                                    .free = s->free,
                                    .speed = s->speed,
                                    .failures = s->failures,
                                    .standing = s->standing};
    }
}

/* What was not done before is nobody's; there is room. */
static void fill_pool(struct dispatch *d, const struct slice done[], size_t n)
{
    uint64_t at = d->frame.begin;

    unit_pool_empty(&d->pool);
    for (size_t i = 0; i <= n; i++) {
        struct batch b = {.units = {at, i < n ? done[i].begin : d->frame.end}};

        dispatch_put_back(d, &b);
        at = i < n ? done[i].end : at;
    }
    d->left = d->pool.units;
}

void dispatch_expect(struct dispatch *d, uint64_t units)
{
    d->expected = units;
}

/* Of this frame and those that wait. */
static int32_t most_tasks(const struct dispatch *d)
{
    struct tasks waiting = tasks_of(d->expected, d->grain);

    return waiting.frame > d->tasks.frame ? waiting.frame : d->tasks.frame;
}

int dispatch_begin(struct dispatch *d,
                   struct slice frame,
                   const struct slice done[],
                   size_t n)
{
    if (unit_pool_reserve(&d->pool, n + 1 + d->nodes) < 0
        || (d->needs && needs_begin(d->needs, frame, d->is_growing) < 0))
        return -1;
    forget_frame(d);
    d->frame = frame;
    d->tasks = tasks_of(units_in(frame), d->grain);
    if (d->kind->bundles)
        d->kind->bundles->set_context(d->state, most_tasks(d));
    dispatch_weigh(d);
    fill_pool(d, done, n);
    d->is_new = d->sizing.cost && !cost_is_known(d->sizing.cost);
    d->answers = 0;
    d->sizing.frame = frame;
    d->sizing.is_growing = d->is_growing;
    d->sizing.grain = d->grain;
    if (d->sizing.cost)
        cost_begin(d->sizing.cost, (double)frame.begin,
                   (double)units_in(frame));
    if (n == 0)
        dispatch_cut(d);
    return 0;
}

void dispatch_set_growing(struct dispatch *d, int is_growing)
{
    d->is_growing = is_growing;
}

void dispatch_set_needs(struct dispatch *d, struct needs *needs)
{
    d->needs = needs;
}

int dispatch_grow(struct dispatch *d, uint64_t end)
{
    struct batch more = {.units = {d->frame.end, end}};
    struct unit_pool *pool = &d->pool;
    struct batch *last;

    if (dispatch_make_room(d) < 0
        || (d->needs && needs_grow(d->needs, end) < 0))
        return -1;
    last = pool->n > 0 ? &pool->batch[pool->n - 1] : NULL;
    if (last && last->attempts == 0 && last->units.end == d->frame.end) {
        last->units.end = end; /* else a piece would be one of them at most */
        pool->units += units_in(more.units);
    } else {
        dispatch_put_back(d, &more);
    }
    d->left += units_in(more.units);
    d->frame.end = end;
    d->sizing.frame = d->frame;
    d->tasks = tasks_of(units_in(d->frame), d->grain);
    return 0;
}

/* --- events --------------------------------------------------------------- */

/* Is a piece's time quite another than it was taken to be? */
static int is_surprise(const struct cost *cost,
                       size_t node,
                       double work,
                       double seconds)
{
    double expected = cost_seconds(cost, node, work);
    double most = fmax(SURPRISE_LEAST, 4 * cost_noise(cost));

    return seconds > expected * (1 + most) || seconds * (1 + most) < expected;
}

/* At the frame's end what pieces cost is fitted.  Before that where they decide
 * what comes next and many are not as they were taken to be.  O(n), so not too
 * often; and the less where nothing comes of it. */
static int wants_fit(const struct dispatch *d, double now)
{
    int matters = dispatch_is_by_cost(d) && d->surprises * FIT_PART > d->nodes;
    double gap = (double)pace_fit_ns(d->nodes) * 1e-9;

    if (d->left > 0)
        return matters && now - d->fitted >= gap;
    return now - d->fitted >= (matters ? gap : gap * FIT_SELDOM);
}

static void learn_cost(struct dispatch *d, const struct dispatch_piece *p)
{
    struct cost *cost = d->sizing.cost;
    struct cost_part part = sizing_place(&d->sizing, p->units);
    double work = sizing_work(&d->sizing, p->units);
    double speed = d->speed ? d->speed[p->node] : 1;
    const struct cost_run run = {p->seconds * speed, p->cpu * speed,
                                 p->beside * speed};

    if (!cost)
        return;
    d->surprises +=
        d->is_new
        || is_surprise(cost, p->node, work, cost_alone(cost, p->node, &run));
    d->sizing.is_young = d->is_new && ++d->answers < d->nodes;
    cost_add(cost, p->node, &part, &run);
    d->answered = p->back;
    if (!wants_fit(d, p->back))
        return;
    cost_fit(cost);
    d->fitted = p->back;
    d->surprises = 0;
    d->looked = -INFINITY; /* the level was by what had been known */
}

#define GAP_LEAST 1e-9 /* seconds; less is rounding */

static void learn(struct dispatch *d,
                  const struct dispatch_piece *p,
                  double begun)
{
    struct dispatch_node *s = &d->node[p->node];
    double gap = p->back - p->sent - p->seconds, took = p->back - begun;
    int32_t tasks = tasks_in(&d->tasks, units_in(p->units));

    s->done += units_in(p->units);
    s->busy += p->seconds;
    s->speed = s->busy > 0 ? (double)s->done / s->busy : 0;
    dispatch_set_failures(d, p->node, 0);
    d->left -= units_in(p->units);
    if (gap > GAP_LEAST && (d->delay <= 0 || gap < d->delay))
        d->delay = gap;
    learn_cost(d, p);
    if (d->kind->bundles)
        d->kind->bundles->feedback(d->state, p->node, tasks,
                                   bundles_time(tasks, p->seconds * 1e9,
                                                (took - p->seconds) * 1e9, 1));
}

/* A piece that a node is at, and would have done by now if it took what it was
 * taken to, costs as much as this at least: else a node that has become slow would
 * be beaten in every frame. */
static void learn_beaten(struct dispatch *d, const struct dispatch_piece *p)
{
    const struct dispatch_node *s = &d->node[p->node];
    double work = sizing_work(&d->sizing, p->units), ran = p->back - s->begun;
    struct cost_part part = sizing_place(&d->sizing, p->units);
    struct cost *cost = d->sizing.cost;

    if (cost && cost_is_known(cost) && s->piece[0] == p->id
        && ran > cost_seconds(cost, p->node, work))
        cost_add(cost, p->node, &part, &(struct cost_run){.seconds = ran});
}

/* It ends without an answer: its command has run since the node began with it; one
 * in hand behind another has not, as far as is known. */
static void note_end(const struct dispatch *d,
                     struct dispatch_piece *p,
                     double now)
{
    const struct dispatch_node *s = &d->node[p->node];

    p->back = now;
    p->seconds = s->piece[0] == p->id ? now - fmax(s->begun, p->sent) : 0;
}

/* Nobody waits for its answer any more. */
static void give_up(struct dispatch *d, struct dispatch_piece *p, double now)
{
    note_end(d, p, now);
    dispatch_make_void(d, p, now);
}

/* Its copy was first. */
static void give_up_twin(struct dispatch *d, const struct dispatch_piece *p)
{
    struct dispatch_piece *twin = dispatch_piece_of(d, p->twin);

    note_end(d, twin, p->back);
    learn_beaten(d, twin);
    twin->is_beaten = 1;
    dispatch_take_back(d, twin, PIECE_VOID, p->back);
}

void dispatch_ran_beside(struct dispatch *d, uint64_t id, double seconds)
{
    dispatch_piece_of(d, id)->beside = seconds;
}

void dispatch_answered(
    struct dispatch *d, uint64_t id, double now, double seconds, double cpu)
{
    struct dispatch_piece *p = dispatch_piece_of(d, id);
    double begun = d->node[p->node].begun;

    p->back = now;
    p->seconds = seconds;
    p->cpu = cpu;
    dispatch_take_back(d, p, PIECE_DONE, now);
    if (dispatch_twin(d, p))
        give_up_twin(d, p);
    learn(d, p, begun);
}

int dispatch_split(struct dispatch *d,
                   uint64_t id,
                   uint64_t units,
                   double now,
                   double seconds,
                   double cpu)
{
    struct dispatch_piece *p, *head;
    struct dispatch_node *s;
    double begun;

    if (dispatch_make_room(d) < 0)
        return DISPATCH_NO_MEMORY;
    p = dispatch_piece_of(d, id);
    s = &d->node[p->node];
    begun = s->begun;
    head = &d->piece[d->n];
    *head = *p;
    head->id = d->first_id + d->n++;
    head->units.end = p->units.begin + units;
    head->state = PIECE_DONE;
    head->back = fmin(begun + seconds, now);
    head->seconds = seconds;
    head->cpu = cpu;
    p->units.begin = head->units.end;
    p->sent = head->back;
    s->out_units -= units;
    if (s->piece[0] == id) {
        s->begun = head->back;
        s->metered = 0;
    }
    learn(d, head, begun);
    return 0;
}

int dispatch_doubts(const struct dispatch *d, uint64_t id)
{
    const struct dispatch_piece *p = &d->piece[id - d->first_id];

    return d->rule.doubts && p->failures == 0 && !(d->node[p->node].speed > 0)
           && dispatch_good_beside(d, p->node) > 0;
}

void dispatch_failed(struct dispatch *d,
                     uint64_t id,
                     double now,
                     double seconds)
{
    struct dispatch_piece *p = dispatch_piece_of(d, id);

    p->back = now;
    p->seconds = seconds;
    p->is_blamed = 1;
    p->is_late = 0;
    if (p->forgiven == 0 && !p->is_crowded /* of a half: the units' fault */
        && !dispatch_twin(d, p))
        dispatch_set_failures(d, p->node, d->node[p->node].failures + 1);
    p->is_excused = p->is_crowded || dispatch_doubts(d, id);
    dispatch_make_void(d, p, now);
}

void dispatch_crowded(struct dispatch *d, uint64_t id)
{
    dispatch_piece_of(d, id)->is_crowded = 1;
}

void dispatch_blame(struct dispatch *d, uint64_t id)
{
    struct dispatch_piece *p = dispatch_piece_of(d, id);

    p->is_blamed = p->is_late = 1;
}

void dispatch_cancel(struct dispatch *d, uint64_t id, double now)
{
    give_up(d, dispatch_piece_of(d, id), now);
}

enum failure_verdict dispatch_verdict(const struct dispatch *d, uint64_t id)
{
    return dispatch_judge(d, &d->piece[id - d->first_id]);
}

void dispatch_metered(struct dispatch *d,
                      size_t node,
                      uint64_t id,
                      double fraction)
{
    const struct dispatch_piece *p = dispatch_current(d, node);

    if (p && p->id == id)
        d->node[node].metered = fraction * (double)units_in(p->units);
}

void dispatch_moved(struct dispatch *d, size_t node, double seconds, double now)
{
    struct dispatch_node *s = &d->node[node];

    s->begun = fmin(s->begun + seconds, now);
}

/* What waits at a node, and what it has out but for the first `keep` pieces,
 * goes to the pool. */
static void strip(struct dispatch *d, size_t node, size_t keep, double now)
{
    struct dispatch_node *s = &d->node[node];

    dispatch_give_up_waiting(d, node);
    while (s->out > keep)
        give_up(d, dispatch_piece_of(d, s->piece[keep]), now);
}

/* The policy is told once, whatever becomes of the node after that. */
static void leave(struct dispatch *d, size_t node)
{
    if (d->kind->bundles && dispatch_may_send(d, node))
        d->kind->bundles->leave(d->state, node);
}

void dispatch_lost(struct dispatch *d, size_t node, double now)
{
    leave(d, node);
    dispatch_set_awaited(d, node, 0);
    d->node[node].standing = STANDING_AWAY;
    d->node[node].speed = 0;
    strip(d, node, 0, now);
    dispatch_weigh(d);
}

void dispatch_await(struct dispatch *d, size_t node, double free)
{
    if (!dispatch_may_send(d, node))
        return;
    dispatch_set_awaited(d, node, 1);
    dispatch_give_up_waiting(d, node);
    d->node[node].free = free;
}

void dispatch_returned(struct dispatch *d, size_t node)
{
    if (d->node[node].is_awaited) {
        dispatch_set_awaited(d, node, 0);
        d->node[node].free = 0;
    } else if (d->node[node].standing == STANDING_AWAY) {
        d->node[node] = (struct dispatch_node){.standing = STANDING_GOOD,
                                               .got = d->node[node].got};
    } else {
        return;
    }
    dispatch_weigh(d);
}

void dispatch_retire(struct dispatch *d, size_t node, double now)
{
    if (!dispatch_may_send(d, node))
        return;
    leave(d, node);
    d->node[node].standing = STANDING_LEAVING;
    strip(d, node, 1, now);
    dispatch_weigh(d);
}

void dispatch_distrust(struct dispatch *d, size_t node, double now)
{
    if (d->node[node].standing != STANDING_GOOD)
        return;
    d->node[node].standing = STANDING_BAD;
    strip(d, node, 1, now);
    dispatch_weigh(d);
}

int dispatch_give(struct dispatch *d, size_t node, uint64_t units)
{
    struct batch off = d->node[node].waiting, rest = off;

    if (dispatch_make_room(d) < 0)
        return -1;
    rest.units.end -= units;
    off.units.begin = rest.units.end;
    dispatch_set_waiting(d, node, rest);
    dispatch_put_back(d, &off);
    return 0;
}

/* --- how it stands -------------------------------------------------------- */

size_t dispatch_nodes(const struct dispatch *d)
{
    return d->nodes;
}

struct slice dispatch_frame(const struct dispatch *d)
{
    return d->frame;
}

uint64_t dispatch_grain(const struct dispatch *d)
{
    return d->grain;
}

uint64_t dispatch_left(const struct dispatch *d)
{
    return d->left;
}

uint64_t dispatch_left_out(const struct dispatch *d)
{
    return d->left_out;
}

const struct dispatch_node *dispatch_node(const struct dispatch *d, size_t node)
{
    return &d->node[node];
}

const struct unit_pool *dispatch_pool(const struct dispatch *d)
{
    return &d->pool;
}

size_t dispatch_waiting(const struct dispatch *d)
{
    return d->waiting;
}

size_t dispatch_pieces(const struct dispatch *d)
{
    return d->n;
}

const struct dispatch_piece *dispatch_piece(const struct dispatch *d, size_t i)
{
    return &d->piece[i];
}

uint64_t dispatch_taken(const struct dispatch *d)
{
    return d->taken;
}

uint64_t dispatch_work(const struct dispatch *d)
{
    return d->look.work;
}
