/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Feeding appends pieces; dispatch_next() hands them out.  Whatever is out or
 * waiting has a place set aside in the pool, so nothing that happens to a node
 * can fail.
 */
#include "policy/dispatch.h"
#include "policy/pace.h"
#include "policy/sizing.h"
#include "policy/tasks.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A piece whose seconds are so far off is no noise; relative. */
#define SURPRISE_LEAST 0.3
/* Of all nodes one in so many must surprise for a fit within a frame. */
#define FIT_PART 16
/* Of many nodes a level is good for this part of the time that is left. */
#define LOOK_PART 0.02

struct dispatch {
    size_t nodes;
    uint64_t grain, most_pieces;
    const struct policy_kind *kind;
    void *state;         /* the policy's */
    const char *overlap; /* one a node; NULL: none */
    const size_t *group; /* likewise */
    const double *asked; /* loads, likewise */
    struct slice frame;
    uint64_t left;     /* units that are yet to be done */
    uint64_t left_out; /* units that are not to be any more */
    struct failure_rule rule;
    double end;         /* no piece is out for longer */
    struct tasks tasks; /* of the frame, for bundles */
    struct dispatch_piece *piece;
    size_t n, cap;
    size_t next;       /* pieces before it were handed out */
    uint64_t first_id; /* of piece[0] */
    size_t out;        /* pieces that are PIECE_OUT */
    double delay;      /* seconds that a piece is on its way, to and fro */
    struct unit_pool pool;
    size_t waiting; /* nodes with waiting units */
    size_t good;    /* nodes with a load whose last command went well, or is
                       yet to be seen */
    uint64_t taken;
    double loads; /* sum of load[] */
    struct tail_look look;
    double looked; /* when that was taken last */
    int wants_look;
    struct sizing
        sizing;       /* of pieces by what they cost; its cost may be NULL */
    int is_fresh;     /* its level is of now */
    int is_forced;    /* one takes some, whatever the level says */
    double answered;  /* when the last piece was */
    double fitted;    /* when the cost was; of a frame before: below 0 */
    size_t surprises; /* pieces since then */
    size_t answers;   /* of this frame */
    int is_new;       /* when it began, nothing was known of costs */
    /* one a node */
    struct dispatch_node *node;
    double *load;           /* 0: gets nothing */
    struct slice *cut;      /* workspace */
    struct slice *head;     /* likewise */
    struct tail_node *tail; /* likewise */
    struct tail_late *room; /* likewise, of the look */
};

static uint64_t units_in(struct slice s)
{
    return s.end - s.begin;
}

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
    d->sizing.state = state;
}

void dispatch_set_cost(struct dispatch *d, struct cost *cost)
{
    d->sizing.cost = cost;
    for (size_t i = 1; i < d->nodes; i++)
        if (d->asked[i] < d->asked[0] || d->asked[i] > d->asked[0]) {
            cost_expect_speeds(cost, d->asked);
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

int dispatch_is_by_cost(const struct dispatch *d)
{
    return d->most_pieces == DISPATCH_BY_COST && d->sizing.cost
           && !d->kind->bundles;
}

void dispatch_set_failure_rule(struct dispatch *d,
                               const struct failure_rule *rule)
{
    d->rule = *rule;
}

void dispatch_set_end(struct dispatch *d, double end)
{
    d->end = end;
}

void dispatch_set_groups(struct dispatch *d, const size_t group[])
{
    d->group = group;
}

void dispatch_set_overlap(struct dispatch *d, const char *may)
{
    d->overlap = may;
}

/* --- who may work --------------------------------------------------------- */

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
    return d->load[node] > 0 && d->node[node].failures == 0;
}

static int are_alike(const struct dispatch *d, size_t a, size_t b)
{
    return a == b || (d->group && d->group[a] == d->group[b]);
}

/* Of the node's group, whose members adjoin. */
static void set_failures(struct dispatch *d, size_t node, unsigned failures)
{
    size_t i = node;

    if (d->node[node].failures == failures)
        return;
    while (i > 0 && are_alike(d, i - 1, node))
        i--;
    for (; i < d->nodes && are_alike(d, i, node); i++) {
        d->good -= (size_t)is_good(d, i);
        d->node[i].failures = failures;
        d->good += (size_t)is_good(d, i);
    }
}

/* --- one piece ------------------------------------------------------------ */

/* For one piece more, and that each piece, in two, and what waits at each node
 * could come back to the pool, of one node more than now. */
static int make_room(struct dispatch *d)
{
    size_t cap = d->cap * 2 + 16;
    struct dispatch_piece *more;

    if (unit_pool_reserve(&d->pool, d->pool.n + 2 * d->out + d->waiting + 3)
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

static void set_waiting(struct dispatch *d, size_t node, struct batch b)
{
    struct dispatch_node *s = &d->node[node];

    d->waiting -= units_in(s->waiting.units) > 0;
    s->waiting = b;
    d->waiting += units_in(b.units) > 0;
}

/* Nobody has it any more.  There is room: make_room(). */
static void put_back(struct dispatch *d, const struct batch *b)
{
    (void)unit_pool_add(&d->pool, b);
}

/* A piece is out from now on. */
static void take_out(struct dispatch *d,
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
    s->piece[s->out++] = p->id;
    s->out_units += units_in(p->units);
    d->out++;
    d->n++;
}

/* A node's first piece has come back: when was the next one begun? */
static double begun_next(const struct dispatch *d, size_t node, double now)
{
    const struct dispatch_node *s = &d->node[node];

    if (!d->overlap || !d->overlap[node] || s->out == 0)
        return now;
    return d->piece[s->piece[0] - d->first_id].sent;
}

/* It is no longer. */
static void take_back(struct dispatch *d,
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
    s->out--;
    s->out_units -= units_in(p->units);
    if (i == 0) {
        s->begun = begun_next(d, p->node, now);
        s->metered = 0;
    }
    p->state = state;
    d->out--;
}

/* Its units, if it ends in vain. */
static struct batch batch_of(const struct dispatch_piece *p)
{
    return (struct batch){.units = p->units,
                          .attempts = p->attempt,
                          .failures = p->failures + (p->is_blamed ? 1 : 0),
                          .forgiven = p->forgiven + (p->is_excused ? 1 : 0)};
}

static enum failure_verdict judge(const struct dispatch *d,
                                  const struct dispatch_piece *p)
{
    struct batch b = batch_of(p);

    return p->is_blamed && !p->is_excused
               ? failure_judge(&d->rule, &b, p->is_late, d->grain)
               : FAILURE_RETRY;
}

/* Its units are nobody's. */
static void make_void(struct dispatch *d, struct dispatch_piece *p, double now)
{
    enum failure_verdict verdict = judge(d, p);
    struct batch b = batch_of(p), half[2];

    take_back(d, p, verdict == FAILURE_LEAVE_OUT ? PIECE_LEFT_OUT : PIECE_VOID,
              now);
    switch (verdict) {
    case FAILURE_RETRY:
        put_back(d, &b);
        break;
    case FAILURE_HALVE:
        failure_halve(&d->rule, &b, d->grain, half);
        put_back(d, &half[0]);
        put_back(d, &half[1]);
        break;
    case FAILURE_LEAVE_OUT:
        d->left -= units_in(b.units);
        d->left_out += units_in(b.units);
        break;
    }
}

static void give_up_waiting(struct dispatch *d, size_t node)
{
    put_back(d, &d->node[node].waiting);
    set_waiting(d, node, (struct batch){0});
}

static struct dispatch_piece *piece_of(struct dispatch *d, uint64_t id)
{
    return &d->piece[id - d->first_id];
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

/* Find out anew who gets how much; if only nodes without a load are left,
 * these.  What waits at one that gets nothing is for the others. */
static void weigh_nodes(struct dispatch *d)
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
            give_up_waiting(d, i);
    }
}

/* --- what a node gets next ------------------------------------------------ */

/* The first batch that a node should have; pool.n if there is none.  Units
 * that failed are for another node than the one that has just failed. */
static size_t batch_for(const struct dispatch *d, size_t node)
{
    int choosy = d->node[node].failures > 0 && d->good > 0;
    size_t i = 0;

    while (i < d->pool.n && choosy && d->pool.batch[i].failures > 0)
        i++;
    return i;
}

/* Units of the pool that are a node's by its load, in whole grains. */
static uint64_t part_of_pool(const struct dispatch *d, size_t node)
{
    double grains = (double)d->pool.units / (double)d->grain;

    grains = ceil(grains * (d->load[node] / d->loads));
    if (grains * (double)d->grain >= (double)d->pool.units)
        return d->pool.units;
    return (uint64_t)grains * d->grain;
}

/* --- by what it costs ----------------------------------------------------- */

/* When a node will be free of this frame and of those before, as far as can be
 * told. */
static double free_at(const struct dispatch *d, size_t node, double now)
{
    const struct dispatch_node *s = &d->node[node];
    const struct dispatch_piece *p = dispatch_current(d, node);
    double from = s->elsewhere > 0 ? fmax(now, s->free) : now;
    double since = now - s->begun, part;

    if (!cost_is_known(d->sizing.cost))
        return 0;
    if (!p && units_in(s->waiting.units) == 0)
        return from;
    if (!p)
        return sizing_end(&d->sizing, node,
                          sizing_work(&d->sizing, s->waiting.units), from, now);
    if (since < DISPATCH_METER_S || !(s->metered > 0))
        return sizing_end(&d->sizing, node, sizing_work(&d->sizing, p->units),
                          s->begun, now);
    part = s->metered / (double)units_in(p->units);
    return part < 1 ? now + since / part * (1 - part) : now;
}

/* When all would end together.  O(n). */
static void find_level(struct dispatch *d, double now)
{
    struct sizing *s = &d->sizing;
    double work = 0;

    s->delay = d->delay;
    for (size_t i = 0; i < d->nodes; i++) {
        s->speed[i] = d->load[i] > 0 ? cost_speed(s->cost, i) : 0;
        s->free[i] = free_at(d, i, now);
    }
    for (size_t i = 0; i < d->pool.n; i++)
        work += sizing_work(s, d->pool.batch[i].units);
    sizing_look(s, work);
    d->look.work += d->nodes;
    d->looked = now;
    d->is_fresh = 1;
}

/* Is it time for another level?  The later the frame, the more often, if it
 * costs something. */
static int is_look_due(const struct dispatch *d, double now)
{
    double gap = dispatch_gap(d);

    if (gap > 0)
        gap = fmax(gap, LOOK_PART * (d->sizing.level - now));
    return d->out == 0 || now - d->looked >= gap;
}

/* Units of the pool's i-th batch that a node takes. */
static uint64_t part_by_cost(struct dispatch *d,
                             size_t node,
                             size_t i,
                             double now)
{
    uint64_t units;

    if (!d->is_fresh && is_look_due(d, now))
        find_level(d, now);
    units = sizing_part(&d->sizing, node, now, d->pool.batch[i].units);
    return d->is_forced && units == 0 ? d->grain : units;
}

static void take_from_pool(struct dispatch *d, size_t node, double now)
{
    size_t i = batch_for(d, node);
    struct batch b;

    if (i == d->pool.n)
        return;
    if (dispatch_is_by_cost(d))
        b = unit_pool_take(&d->pool, i, part_by_cost(d, node, i, now));
    else
        b = unit_pool_take(&d->pool, i, part_of_pool(d, node));
    set_waiting(d, node, b);
    d->node[node].chunk = units_in(b.units);
}

/* Pieces that a node's chunk goes in. */
static uint64_t pieces_of(const struct dispatch *d,
                          const struct dispatch_node *s)
{
    double seconds = s->speed > 0 ? (double)s->chunk / s->speed : 0;

    return d->most_pieces == DISPATCH_BY_COST
               ? 1
               : tail_pieces(seconds, d->most_pieces);
}

/* The next piece off what waits at a node, which is filled up before. */
static struct batch next_piece(struct dispatch *d, size_t node, double now)
{
    struct dispatch_node *s = &d->node[node];
    struct batch b, rest;

    if (units_in(s->waiting.units) == 0)
        take_from_pool(d, node, now);
    b = rest = s->waiting;
    b.units.end =
        b.units.begin
        + tail_piece(s->chunk, units_in(b.units), d->grain, pieces_of(d, s));
    rest.units.begin = b.units.end;
    set_waiting(d, node, rest);
    return b;
}

static struct batch next_bundle(struct dispatch *d, size_t node)
{
    size_t i = batch_for(d, node);

    if (i == d->pool.n)
        return (struct batch){0};
    return unit_pool_take(
        &d->pool, i,
        tasks_next(&d->tasks, d->kind->bundles, d->state, node, d->pool.units));
}

/* Pieces that a node may have out. */
static size_t most_out(const struct dispatch *d)
{
    return d->kind->bundles ? DISPATCH_OUT : 1;
}

/* Does it work at a piece, or one of another frame, that will be done when the
 * next one has started?  What of a start waits and what works is not told apart
 * where nodes are alike. */
static int is_ending(const struct dispatch *d, size_t node, double now)
{
    const struct dispatch_piece *p = dispatch_current(d, node);
    const struct dispatch_node *s = &d->node[node];
    const struct cost *cost = d->sizing.cost;
    double start, end = s->free;

    if (!cost || !cost_is_known(cost))
        return 0;
    start = cost_seconds(cost, node, 0);
    if (p)
        end = s->begun
              + cost_seconds(cost, node, sizing_work(&d->sizing, p->units));
    return start >= DISPATCH_OVERLAP_S && now >= end - start;
}

int dispatch_has_room(const struct dispatch *d, size_t node, double now)
{
    const struct dispatch_node *s = &d->node[node];
    size_t out = s->out + s->elsewhere;

    if (!(d->load[node] > 0))
        return 0;
    if (d->overlap && d->overlap[node])
        return out == 0 || (out == 1 && is_ending(d, node, now));
    return out < most_out(d);
}

/* Seconds that a node would take for a piece; 0 if nobody knows. */
static double seconds_of(const struct dispatch *d, size_t node, double units)
{
    double speed = d->node[node].speed;

    if (d->sizing.cost && cost_is_known(d->sizing.cost))
        return cost_seconds(d->sizing.cost, node, units);
    return speed > 0 ? units / speed : 0;
}

/* Of a piece that a node would be sent now: the units that it has time for, in
 * whole grains. */
static uint64_t units_in_time(const struct dispatch *d,
                              size_t node,
                              uint64_t units,
                              double now)
{
    const struct dispatch_node *s = &d->node[node];
    double start = seconds_of(d, node, 0);
    double all = seconds_of(d, node, (double)units);
    double begin = now, left, grains;

    if (s->out > 0)
        begin = fmax(now, s->begun + seconds_of(d, node, (double)s->out_units));
    left = (d->end - begin) / DISPATCH_END_CARE;
    if (all <= left)
        return units;
    grains = (left - start) / (all - start) * (double)units / (double)d->grain;
    return grains >= 1 ? (uint64_t)grains * d->grain : 0;
}

/* What there is no time for is nobody's, as another may have it. */
static void keep_to_end(struct dispatch *d,
                        size_t node,
                        struct batch *b,
                        double now)
{
    uint64_t units = units_in_time(d, node, units_in(b->units), now);
    struct batch rest = *b;

    if (units >= units_in(b->units))
        return;
    rest.units.begin = b->units.end = b->units.begin + units;
    put_back(d, &rest);
}

/* Give a node one more piece, if it has room and there is one. */
static int feed(struct dispatch *d, size_t node, double now)
{
    struct batch b;

    if (!dispatch_has_room(d, node, now) || now >= d->end)
        return 0;
    if (make_room(d) < 0)
        return DISPATCH_NO_MEMORY;
    b = d->kind->bundles ? next_bundle(d, node) : next_piece(d, node, now);
    if (d->end < INFINITY)
        keep_to_end(d, node, &b, now);
    if (units_in(b.units) > 0)
        take_out(d, node, &b, now);
    return 0;
}

/* --- the tail ------------------------------------------------------------- */

/* With a meter: what is left of the piece, at the speed that it has had. */
static void view_metered(struct tail_node *t, const struct dispatch_node *s)
{
    uint64_t done = (uint64_t)s->metered;

    if (t->since < DISPATCH_METER_S || !(s->metered > 0))
        return;
    t->speed = s->metered / t->since;
    t->running -= done < t->running ? done : t->running;
    t->since = 0;
}

const struct tail_node *dispatch_tail(struct dispatch *d, double now)
{
    for (size_t i = 0; i < d->nodes; i++) {
        const struct dispatch_node *s = &d->node[i];

        d->tail[i] = (struct tail_node){
            .speed = s->speed,
            .running = s->out_units,
            .since = s->out > 0 ? now - s->begun : 0,
            .waiting = units_in(s->waiting.units),
        };
        view_metered(&d->tail[i], s);
        d->tail[i].since -= fmax(s->free - now, 0);
    }
    return d->tail;
}

/* One that has nothing, and finds nothing but what waits at others. */
static int is_idle(const struct dispatch *d, size_t node)
{
    const struct dispatch_node *s = &d->node[node];

    return s->out == 0 && s->elsewhere == 0 && d->load[node] > 0
           && units_in(s->waiting.units) == 0;
}

/* Nobody works, and all that could refuse: the fastest that may takes some. */
static int force(struct dispatch *d, double now)
{
    size_t best = d->nodes;

    for (size_t i = 0; i < d->nodes; i++)
        if (is_idle(d, i) && batch_for(d, i) < d->pool.n
            && (best == d->nodes || d->load[i] > d->load[best]))
            best = i;
    if (best == d->nodes)
        return 0;
    d->is_forced = 1;
    if (feed(d, best, now) < 0)
        return DISPATCH_NO_MEMORY;
    d->is_forced = 0;
    return 0;
}

/* Each that is idle takes its part, as the level is of now. */
static int share_pool(struct dispatch *d, double now)
{
    d->wants_look = 0;
    for (size_t i = 0; i < d->nodes && d->pool.units > 0; i++)
        if (is_idle(d, i) && feed(d, i, now) < 0)
            return DISPATCH_NO_MEMORY;
    return d->out == 0 && d->pool.units > 0 ? force(d, now) : 0;
}

static void look_at_tail(struct dispatch *d, double now)
{
    (void)dispatch_tail(d, now);
    tail_look_begin(&d->look, d->tail, d->nodes, d->room);
    d->looked = now;
}

/* Within a look: an idle node takes over what waits at the one that would end
 * last, and begins with it. */
static int take_over(struct dispatch *d, size_t node, double now)
{
    struct tail_move move;
    struct batch from, to;

    if (make_room(d) < 0)
        return DISPATCH_NO_MEMORY;
    if (!tail_look_take(&d->look, node, d->grain, d->delay, &move))
        return 0;
    from = to = d->node[move.from].waiting;
    from.units.end -= move.units;
    to.units.begin = from.units.end;
    set_waiting(d, move.from, from);
    set_waiting(d, node, to);
    d->node[node].chunk = move.units;
    d->taken += move.units;
    if (feed(d, node, now) < 0)
        return DISPATCH_NO_MEMORY;
    tail_look_begun(&d->look, node, d->node[node].out_units);
    return 0;
}

/* All that are idle, in one look. */
int dispatch_help_all(struct dispatch *d, double now)
{
    int looking = 0;

    d->wants_look = 0;
    if (d->kind->bundles || now >= d->end)
        return 0;
    if (dispatch_is_by_cost(d))
        return share_pool(d, now);
    for (size_t i = 0; i < d->nodes && d->waiting > 0; i++) {
        if (!is_idle(d, i))
            continue;
        if (!looking)
            look_at_tail(d, now);
        looking = 1;
        if (take_over(d, i, now) < 0)
            return DISPATCH_NO_MEMORY;
    }
    return 0;
}

double dispatch_gap(const struct dispatch *d)
{
    return (double)pace_look_ns(d->nodes) * 1e-9;
}

int dispatch_hand(struct dispatch *d, size_t node, double now)
{
    d->is_fresh = 0;
    for (size_t i = 0; i < most_out(d); i++)
        if (feed(d, node, now) < 0)
            return DISPATCH_NO_MEMORY;
    return 0;
}

/* A look for one that is free is for all that are idle. */
static int help_by_cost(struct dispatch *d, size_t node, double now)
{
    if (d->pool.units == 0)
        return 0;
    if (d->is_fresh)
        return share_pool(d, now);
    d->wants_look |= is_idle(d, node);
    return 0;
}

int dispatch_help(struct dispatch *d, size_t node, double now)
{
    if (dispatch_is_by_cost(d))
        return help_by_cost(d, node, now);
    if (d->kind->bundles || d->waiting == 0 || !is_idle(d, node)
        || now >= d->end)
        return 0;
    if (now - d->looked < dispatch_gap(d)) {
        d->wants_look = 1;
        return 0;
    }
    look_at_tail(d, now);
    return take_over(d, node, now);
}

int dispatch_feed_node(struct dispatch *d, size_t node, double now)
{
    int rc = dispatch_hand(d, node, now);

    return rc < 0 ? rc : dispatch_help(d, node, now);
}

/* All get one before any gets a second. */
int dispatch_hand_all(struct dispatch *d, double now)
{
    if (d->pool.units > 0 && !(d->loads > 0))
        return DISPATCH_NOBODY;
    d->is_fresh = 0;
    d->looked = dispatch_is_by_cost(d) ? -INFINITY : d->looked;
    for (size_t i = 0; i < most_out(d); i++)
        for (size_t node = 0; node < d->nodes; node++)
            if (feed(d, node, now) < 0)
                return DISPATCH_NO_MEMORY;
    return 0;
}

int dispatch_feed(struct dispatch *d, double now)
{
    int rc = dispatch_hand_all(d, now);

    return rc < 0 ? rc : dispatch_help_all(d, now);
}

double dispatch_looked(const struct dispatch *d)
{
    return d->looked;
}

int dispatch_wants_look(const struct dispatch *d)
{
    return d->wants_look;
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

        put_back(d, &b);
        at = i < n ? done[i].end : at;
    }
    d->left = d->pool.units;
}

/* By its load alone. */
static uint64_t part_of_frame(const struct dispatch *d, size_t node)
{
    double part = d->load[node] / d->loads;

    return (uint64_t)ceil(part * (double)units_in(d->frame));
}

/* The same by what pieces cost: what is not sent at once is for all. */
static void cut_by_cost(struct dispatch *d)
{
    struct slice rest, *head = d->head;

    d->sizing.delay = d->delay;
    for (size_t i = 0; i < d->nodes; i++)
        d->sizing.free[i] =
            d->node[i].elsewhere > 0 ? fmax(d->node[i].free, 0) : 0;
    if (!(d->loads > 0))
        return;
    sizing_cut(&d->sizing, d->load, head, &rest);
    unit_pool_empty(&d->pool);
    for (size_t i = 0; i < d->nodes; i++) {
        struct dispatch_node *s = &d->node[i];

        set_waiting(d, i, (struct batch){.units = head[i]});
        s->slice = part_of_frame(d, i);
        s->chunk = units_in(head[i]);
    }
    put_back(d, &(struct batch){.units = rest});
}

/* The whole frame, one slice a node, out of the pool; where no node is left it
 * stays there. */
static void cut_slices(struct dispatch *d)
{
    if (shares_cut(d->frame.begin, d->frame.end, d->grain, d->load, d->cut,
                   d->nodes)
        < 0)
        return;
    unit_pool_empty(&d->pool);
    for (size_t i = 0; i < d->nodes; i++) {
        struct dispatch_node *s = &d->node[i];

        set_waiting(d, i, (struct batch){.units = d->cut[i]});
        s->slice = s->chunk = units_in(d->cut[i]);
    }
}

int dispatch_begin(struct dispatch *d,
                   struct slice frame,
                   const struct slice done[],
                   size_t n)
{
    if (unit_pool_reserve(&d->pool, n + 1 + d->nodes) < 0)
        return -1;
    forget_frame(d);
    d->frame = frame;
    d->tasks = tasks_of(units_in(frame), d->grain);
    if (d->kind->bundles)
        d->kind->bundles->set_context(d->state, d->tasks.frame);
    weigh_nodes(d);
    fill_pool(d, done, n);
    d->is_new = d->sizing.cost && !cost_is_known(d->sizing.cost);
    d->answers = 0;
    d->sizing.frame = frame;
    d->sizing.grain = d->grain;
    if (n == 0 && dispatch_is_by_cost(d))
        cut_by_cost(d);
    else if (n == 0 && !d->kind->bundles)
        cut_slices(d);
    return 0;
}

/* --- frames side by side -------------------------------------------------- */

void dispatch_number(struct dispatch *d, uint64_t first_id)
{
    d->first_id = first_id;
}

void dispatch_share(struct dispatch *d, size_t node, const struct dispatch *of)
{
    const struct dispatch_node *s = &of->node[node];

    d->node[node].speed = s->speed;
    set_failures(d, node, s->failures);
    if (of->delay > 0)
        d->delay = of->delay;
}

static double busy_by_cost(const struct dispatch *d,
                           size_t node,
                           double now,
                           int with_waiting)
{
    const struct dispatch_node *s = &d->node[node];
    double busy = s->out > 0 ? fmax(free_at(d, node, now) - now, 0) : 0;
    double waiting = sizing_work(&d->sizing, s->waiting.units);

    if (!with_waiting || !(waiting > 0) || !cost_is_known(d->sizing.cost))
        return busy;
    return busy + cost_seconds(d->sizing.cost, node, waiting);
}

double dispatch_busy(const struct dispatch *d,
                     size_t node,
                     double now,
                     int with_waiting)
{
    const struct dispatch_node *s = &d->node[node];
    double waiting = with_waiting ? (double)units_in(s->waiting.units) : 0;
    double since = s->out > 0 ? now - s->begun : 0;

    if (dispatch_is_by_cost(d))
        return busy_by_cost(d, node, now, with_waiting);
    if (!(s->speed > 0))
        return since;
    return fabs((double)s->out_units / s->speed - since) + waiting / s->speed;
}

void dispatch_elsewhere(struct dispatch *d,
                        size_t node,
                        size_t out,
                        double free)
{
    d->node[node].elsewhere = out;
    d->node[node].free = free;
}

void dispatch_turn(struct dispatch *d, size_t node, double now)
{
    d->node[node].begun = now;
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
 * often. */
static int wants_fit(const struct dispatch *d, double now)
{
    if (now - d->fitted < (double)pace_fit_ns(d->nodes) * 1e-9)
        return 0;
    return d->left == 0
           || (dispatch_is_by_cost(d) && d->surprises * FIT_PART > d->nodes);
}

static void learn_cost(struct dispatch *d, const struct dispatch_piece *p)
{
    struct cost *cost = d->sizing.cost;
    double work = sizing_work(&d->sizing, p->units);

    if (!cost)
        return;
    d->surprises += d->is_new || is_surprise(cost, p->node, work, p->seconds);
    d->sizing.is_young = d->is_new && 2 * ++d->answers < d->nodes;
    cost_add(cost, p->node, work, p->seconds);
    d->answered = p->back;
    if (!wants_fit(d, p->back))
        return;
    cost_fit(cost);
    d->fitted = p->back;
    d->surprises = 0;
    d->looked = -INFINITY; /* the level was by what had been known */
}

static void learn(struct dispatch *d,
                  const struct dispatch_piece *p,
                  double begun)
{
    struct dispatch_node *s = &d->node[p->node];
    double gap = p->back - p->sent - p->seconds;

    s->done += units_in(p->units);
    s->busy += p->seconds;
    s->speed = s->busy > 0 ? (double)s->done / s->busy : 0;
    set_failures(d, p->node, 0);
    d->left -= units_in(p->units);
    if (gap > 0 && (d->delay <= 0 || gap < d->delay))
        d->delay = gap;
    learn_cost(d, p);
    if (d->kind->bundles)
        d->kind->bundles->feedback(d->state, p->node,
                                   tasks_in(&d->tasks, units_in(p->units)),
                                   (p->back - begun) * 1e9);
}

void dispatch_answered(struct dispatch *d,
                       uint64_t id,
                       double now,
                       double seconds)
{
    struct dispatch_piece *p = piece_of(d, id);
    double begun = d->node[p->node].begun;

    p->back = now;
    p->seconds = seconds;
    take_back(d, p, PIECE_DONE, now);
    learn(d, p, begun);
}

void dispatch_failed(struct dispatch *d,
                     uint64_t id,
                     double now,
                     double seconds)
{
    struct dispatch_piece *p = piece_of(d, id);

    p->back = now;
    p->seconds = seconds;
    p->is_blamed = 1;
    p->is_late = 0;
    if (p->forgiven == 0 && !p->is_crowded) /* of a half: the units' fault */
        set_failures(d, p->node, d->node[p->node].failures + 1);
    p->is_excused = p->is_crowded
                    || (d->rule.doubts && p->failures == 0 && d->good > 0
                        && !(d->node[p->node].speed > 0));
    make_void(d, p, now);
}

void dispatch_crowded(struct dispatch *d, uint64_t id)
{
    piece_of(d, id)->is_crowded = 1;
}

void dispatch_blame(struct dispatch *d, uint64_t id)
{
    struct dispatch_piece *p = piece_of(d, id);

    p->is_blamed = p->is_late = 1;
}

void dispatch_cancel(struct dispatch *d, uint64_t id, double now)
{
    make_void(d, piece_of(d, id), now);
}

enum failure_verdict dispatch_verdict(const struct dispatch *d, uint64_t id)
{
    return judge(d, &d->piece[id - d->first_id]);
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

    give_up_waiting(d, node);
    while (s->out > keep)
        make_void(d, piece_of(d, s->piece[keep]), now);
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
    d->node[node].standing = STANDING_AWAY;
    d->node[node].speed = 0;
    strip(d, node, 0, now);
    weigh_nodes(d);
}

void dispatch_returned(struct dispatch *d, size_t node)
{
    if (d->node[node].standing != STANDING_AWAY)
        return;
    d->node[node] = (struct dispatch_node){.standing = STANDING_GOOD};
    weigh_nodes(d);
}

void dispatch_retire(struct dispatch *d, size_t node, double now)
{
    if (!dispatch_may_send(d, node))
        return;
    leave(d, node);
    d->node[node].standing = STANDING_LEAVING;
    strip(d, node, 1, now);
    weigh_nodes(d);
}

void dispatch_distrust(struct dispatch *d, size_t node, double now)
{
    if (d->node[node].standing != STANDING_GOOD)
        return;
    d->node[node].standing = STANDING_BAD;
    strip(d, node, 1, now);
    weigh_nodes(d);
}

int dispatch_give(struct dispatch *d, size_t node, uint64_t units)
{
    struct batch off = d->node[node].waiting, rest = off;

    if (make_room(d) < 0)
        return -1;
    rest.units.end -= units;
    off.units.begin = rest.units.end;
    set_waiting(d, node, rest);
    put_back(d, &off);
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
