/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who gets what next: feeding appends pieces, and dispatch_next() hands them
 * out.
 */
#include "policy/dispatch_state.h"
#include "policy/pace.h"

#include <math.h>

/* Of many nodes a level is good for this part of the time that is left. */
#define LOOK_PART 0.02

/* --- what a node gets next ------------------------------------------------ */

/* Units that failed are for another node than the one that has just failed. */
static int is_choosy(const struct dispatch *d, size_t node)
{
    return d->node[node].failures > 0 && d->good > 0 && !d->is_forced;
}

/* The first batch that a node should have; pool.n if there is none. */
static size_t batch_for(const struct dispatch *d, size_t node)
{
    size_t i = 0;

    while (i < d->pool.n && is_choosy(d, node) && d->pool.batch[i].failures > 0)
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

double dispatch_free_from(const struct dispatch *d, size_t node, double now)
{
    const struct dispatch_node *s = &d->node[node];

    /* Before costs are known, work is no time. */
    if (s->elsewhere == 0
        && !(s->is_awaited && d->sizing.cost && cost_is_known(d->sizing.cost)))
        return now;
    return fmax(now, s->free);
}

double dispatch_free_at(const struct dispatch *d, size_t node, double now)
{
    const struct dispatch_node *s = &d->node[node];
    const struct dispatch_piece *p = dispatch_current(d, node);
    double from = dispatch_free_from(d, node, now);
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

    s->delay = d->delay;
    for (size_t i = 0; i < d->nodes; i++)
        s->free[i] = dispatch_free_at(d, i, now);
    sizing_take_speeds(s, d->load);
    sizing_look(s, dispatch_pool_work(d));
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

/* Of a frame that grows no more than one: the others would wait for that. */
static uint64_t at_once(const struct dispatch *d, uint64_t units)
{
    return d->is_growing && units > d->grain ? d->grain : units;
}

/* But where they are known to be short as many as are done in a while, so that their
 * starts are few; by how many that is more than of any piece before is a guess. */
static uint64_t at_once_by_cost(const struct dispatch *d,
                                size_t node,
                                uint64_t units)
{
    const struct cost *cost = d->sizing.cost;
    double start, each, most;

    if (!d->is_growing || !cost_is_known(cost))
        return at_once(d, units);
    start = cost_seconds(cost, node, 0);
    each = cost_seconds(cost, node, 1) - start;
    most = SIZING_GROWTH * fmax(cost_largest(cost, node), 1);
    if (each > 0)
        most = fmin(most, (DISPATCH_GROWING_S - start) / each);
    if (!(most > (double)d->grain))
        return at_once(d, units);
    return most < (double)units ? (uint64_t)most / d->grain * d->grain : units;
}

static void take_from_pool(struct dispatch *d, size_t node, double now)
{
    size_t i = batch_for(d, node);
    uint64_t units;
    struct batch b;

    if (i == d->pool.n)
        return;
    units = dispatch_is_by_cost(d) ? part_by_cost(d, node, i, now)
                                   : part_of_pool(d, node);
    units = dispatch_is_by_cost(d) ? at_once_by_cost(d, node, units)
                                   : at_once(d, units);
    b = unit_pool_take(&d->pool, i, units);
    dispatch_set_waiting(d, node, b);
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
    dispatch_set_waiting(d, node, rest);
    return b;
}

static struct batch next_bundle(struct dispatch *d, size_t node)
{
    size_t i = batch_for(d, node);

    if (i == d->pool.n)
        return (struct batch){0};
    return unit_pool_take(
        &d->pool, i,
        at_once(d, tasks_next(&d->tasks, d->kind->bundles, d->state, node,
                              d->pool.units)));
}

/* The unit that needs.h has for it, out of the middle of a batch. */
static struct batch next_needed(struct dispatch *d, size_t node)
{
    struct unit_pool *pool = &d->pool;
    struct batch before, b = {0};
    uint64_t unit;
    size_t i = 0;

    if (units_in(d->node[node].waiting.units) > 0) { /* by cost, before */
        before = d->node[node].waiting;
        dispatch_set_waiting(d, node, b);
        dispatch_put_back(d, &before);
    }
    if (!needs_choose(d->needs, node, pool, is_choosy(d, node), &unit))
        return b;
    while (pool->batch[i].units.end <= unit)
        i++;
    before = pool->batch[i];
    before.units.end = unit;
    if (before.units.begin < unit)
        (void)unit_pool_take(pool, i, units_in(before.units));
    b = unit_pool_take(pool, i, 1);
    (void)unit_pool_add(pool, &before); /* there is room */
    return b;
}

/* Pieces that a node may have out. */
static size_t most_out(const struct dispatch *d)
{
    return d->kind->bundles && !d->is_growing && !dispatch_picks(d)
               ? DISPATCH_OUT
               : 1;
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

    if (!(d->load[node] > 0) || s->is_awaited)
        return 0;
    if (d->overlap && d->overlap[node])
        return out == 0 || (out == 1 && is_ending(d, node, now));
    return out < most_out(d);
}

int dispatch_takes_look(const struct dispatch *d, size_t node, double now)
{
    return d->pool.units > 0 && dispatch_has_room(d, node, now)
           && is_look_due(d, now);
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
    dispatch_put_back(d, &rest);
}

/* Give a node one more piece, if it has room and there is one. */
static int feed(struct dispatch *d, size_t node, double now)
{
    struct batch b;

    if (!dispatch_has_room(d, node, now) || now >= d->end)
        return 0;
    if (dispatch_make_room(d) < 0)
        return DISPATCH_NO_MEMORY;
    if (dispatch_picks(d))
        b = next_needed(d, node);
    else
        b = d->kind->bundles ? next_bundle(d, node) : next_piece(d, node, now);
    if (d->end < INFINITY)
        keep_to_end(d, node, &b, now);
    if (units_in(b.units) > 0)
        dispatch_take_out(d, node, &b, now);
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

int dispatch_is_idle(const struct dispatch *d, size_t node)
{
    const struct dispatch_node *s = &d->node[node];

    return s->out == 0 && s->elsewhere == 0 && !s->is_awaited
           && d->load[node] > 0 && units_in(s->waiting.units) == 0;
}

/* Nobody works, and all that could refuse: the fastest that may takes some. */
static int force(struct dispatch *d, double now)
{
    size_t best = d->nodes;

    for (size_t i = 0; i < d->nodes; i++)
        if (dispatch_is_idle(d, i) && batch_for(d, i) < d->pool.n
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

/* Also at frames beside this one. */
static int is_nobody_at_work(const struct dispatch *d)
{
    if (d->out > 0)
        return 0;
    for (size_t i = 0; i < d->nodes; i++)
        if (d->node[i].elsewhere > 0)
            return 0;
    return 1;
}

/* Each that is idle takes its part, as the level is of now. */
static int share_pool(struct dispatch *d, double now)
{
    d->wants_look = 0;
    for (size_t i = 0; i < d->nodes && d->pool.units > 0; i++)
        if (dispatch_is_idle(d, i) && feed(d, i, now) < 0)
            return DISPATCH_NO_MEMORY;
    return d->pool.units > 0 && is_nobody_at_work(d) ? force(d, now) : 0;
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

    if (dispatch_make_room(d) < 0)
        return DISPATCH_NO_MEMORY;
    if (!tail_look_take(&d->look, node, d->grain, d->delay, &move))
        return 0;
    from = to = d->node[move.from].waiting;
    from.units.end -= move.units;
    to.units.begin = from.units.end;
    dispatch_set_waiting(d, move.from, from);
    dispatch_set_waiting(d, node, to);
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
        if (!dispatch_is_idle(d, i))
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

/* Units that need something, and nobody at work, nor yet to come: what has failed at
 * a node is tried there again if no other has what it needs. */
static int force_needed(struct dispatch *d, double now)
{
    if (!dispatch_picks(d) || d->pool.units == 0 || d->out > 0 || now >= d->end)
        return 0;
    for (size_t i = 0; i < d->nodes; i++)
        if (d->node[i].is_awaited)
            return 0;
    d->is_forced = 1;
    for (size_t i = 0; i < d->nodes; i++)
        if (feed(d, i, now) < 0)
            return DISPATCH_NO_MEMORY;
    d->is_forced = 0;
    return d->out > 0 ? 0 : DISPATCH_NO_ROOM;
}

/* What a node has given back may be room for several units. */
static int hand_group(struct dispatch *d, size_t node, double now)
{
    size_t i = node;

    while (i > 0 && dispatch_are_alike(d, i - 1, node))
        i--;
    for (; i < d->nodes && dispatch_are_alike(d, i, node); i++) {
        if (feed(d, i, now) < 0)
            return DISPATCH_NO_MEMORY;
        if (dispatch_has_room(d, i, now))
            break; /* nothing fits in */
    }
    return force_needed(d, now);
}

int dispatch_hand(struct dispatch *d, size_t node, double now)
{
    if (dispatch_picks(d))
        return hand_group(d, node, now);
    d->is_fresh = 0;
    for (size_t i = 0; i < most_out(d); i++)
        if (feed(d, node, now) < 0)
            return DISPATCH_NO_MEMORY;
    return 0;
}

/* What waits at others could be a node's. */
static int may_take_over(const struct dispatch *d, size_t node, double now)
{
    return !d->kind->bundles && d->waiting > 0 && dispatch_is_idle(d, node)
           && now < d->end;
}

/* A look for one that is free is for all that are idle.  When the last one at work
 * ends, and may have nothing more, the others must. */
int dispatch_help_takes_look(const struct dispatch *d, size_t node, double now)
{
    if (dispatch_is_by_cost(d))
        return d->pool.units > 0 && (d->is_fresh || d->out == 0);
    return may_take_over(d, node, now) && now - d->looked >= dispatch_gap(d);
}

static int help_by_cost(struct dispatch *d, size_t node, double now)
{
    if (!dispatch_help_takes_look(d, node, now)) {
        d->wants_look |= d->pool.units > 0 && dispatch_is_idle(d, node);
        return 0;
    }
    if (!d->is_fresh)
        find_level(d, now);
    return share_pool(d, now);
}

int dispatch_help(struct dispatch *d, size_t node, double now)
{
    if (dispatch_is_by_cost(d))
        return help_by_cost(d, node, now);
    if (!dispatch_help_takes_look(d, node, now)) {
        d->wants_look |= may_take_over(d, node, now);
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
    return force_needed(d, now);
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

/* --- who gets nothing ------------------------------------------------------- */

static enum idle_reason why_by_standing(const struct dispatch_node *s)
{
    if (s->is_awaited)
        return IDLE_AWAITED;
    if (s->standing == STANDING_AWAY)
        return IDLE_LOST;
    return s->standing == STANDING_LEAVING ? IDLE_LEAVING
           : s->standing == STANDING_BAD   ? IDLE_FAILS
                                           : IDLE_NOT;
}

enum idle_reason dispatch_idle(const struct dispatch *d, size_t node)
{
    const struct dispatch_node *s = &d->node[node];
    enum idle_reason why = why_by_standing(s);

    if (s->out > 0 || units_in(s->waiting.units) > 0)
        return IDLE_NOT;
    if (why != IDLE_NOT)
        return why;
    if (!(d->load[node] > 0))
        return IDLE_NO_SHARE;
    if (d->pool.n == 0)
        return s->done == 0 && units_in(d->frame) < d->nodes * d->grain
                   ? IDLE_FEW_UNITS
                   : IDLE_NOTHING_LEFT;
    if (batch_for(d, node) == d->pool.n)
        return IDLE_FAILS;
    return dispatch_picks(d)   ? IDLE_NO_ROOM
           : d->end < INFINITY ? IDLE_NO_TIME
                               : IDLE_NO_GAIN;
}

static const struct {
    const char *word, *text;
} idle[IDLE_REASONS] = {
    [IDLE_NOT] = {"works", "it has work"},
    [IDLE_NO_NEED] = {"no_need", "it lacks what the profile or a slot needs"},
    [IDLE_NO_SHARE] = {"no_share", "its load is 0"},
    [IDLE_AWAITED] = {"awaited", "its agent has not come yet"},
    [IDLE_LOST] = {"lost", "it was lost"},
    [IDLE_LEAVING] = {"leaving", "it is to leave the run"},
    [IDLE_FAILS] = {"fails", "commands fail there, and others do its part"},
    [IDLE_FEW_UNITS] = {"few_units", "there are fewer units than slots"},
    [IDLE_NOTHING_LEFT] = {"nothing_left", "nothing is left for it"},
    [IDLE_NO_ROOM] = {"no_room", "no task that waits fits what it has free"},
    [IDLE_NO_TIME] = {"no_time", "no piece would be back before the end"},
    [IDLE_NO_GAIN] = {"no_gain", "a piece of it would come back last"},
};

const char *idle_word(enum idle_reason why)
{
    return idle[why].word;
}

const char *idle_text(enum idle_reason why)
{
    return idle[why].text;
}
