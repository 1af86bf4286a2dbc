/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/sizing.h"
#include "policy/level.h"
#include "policy/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_STEPS 40 /* to a level of whole grains; a few are enough */
/* With so many grains a node they are as good as any fraction. */
#define WHOLE_FINE  16
#define GRAIN_SLACK 1e-6
/* Of a command that is not known a node is sent at least this part of its slice
 * at first, and up to so much more. */
#define FIRST_LEAST 0.4
#define FIRST_SPAN  0.3
/* Of a node whose speed is not known, relative, so much less. */
#define FIRST_SURE   0.3
#define FIRST_UNSURE 0.4

int sizing_init(struct sizing *s, size_t n)
{
    memset(s, 0, sizeof *s);
    s->n = n;
    s->grain = 1;
    s->beside = -1;
    s->free = calloc(n, sizeof *s->free);
    s->ready = calloc(n, sizeof *s->ready);
    s->speed = calloc(n, sizeof *s->speed);
    s->share = calloc(n, sizeof *s->share);
    s->first = calloc(n, sizeof *s->first);
    s->key = calloc(n, sizeof *s->key);
    s->index = calloc(n, sizeof *s->index);
    s->scratch = calloc(n, sizeof *s->scratch);
    if (s->free && s->ready && s->speed && s->share && s->first && s->key
        && s->index && s->scratch)
        return 0;
    sizing_clear(s);
    return -1;
}

void sizing_clear(struct sizing *s)
{
    free(s->free);
    free(s->ready);
    free(s->speed);
    free(s->share);
    free(s->first);
    free(s->key);
    free(s->index);
    free(s->scratch);
    memset(s, 0, sizeof *s);
}

/* --- units and their work ------------------------------------------------- */

struct cost_part sizing_place(const struct sizing *s, struct slice units)
{
    double all = (double)(s->frame.end - s->frame.begin);

    if (s->is_growing)
        return (struct cost_part){.units = (double)(units.end - units.begin),
                                  .end = 1};
    return (struct cost_part){
        .units = (double)(units.end - units.begin),
        .begin = (double)(units.begin - s->frame.begin) / all,
        .end = (double)(units.end - s->frame.begin) / all,
    };
}

/* The work of the frame's units before one. */
static double work_before(const struct sizing *s, uint64_t unit)
{
    struct cost_part part =
        sizing_place(s, (struct slice){s->frame.begin, unit});

    return s->cost ? cost_work(s->cost, &part) : part.units;
}

double sizing_work(const struct sizing *s, struct slice units)
{
    return work_before(s, units.end) - work_before(s, units.begin);
}

/* Whole grains from `from` on, to `to` at most, whose work is nearest to that.
 */
static uint64_t units_of(const struct sizing *s,
                         uint64_t from,
                         uint64_t to,
                         double work)
{
    double before = work_before(s, from);
    uint64_t low = 0, high = (to - from) / s->grain;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        struct slice next = {from + middle * s->grain,
                             from + (middle + 1) * s->grain};

        if ((work_before(s, next.begin) + work_before(s, next.end)) / 2 - before
            < work)
            low = middle + 1;
        else
            high = middle;
    }
    if (to - from - low * s->grain < s->grain)
        return to - from; /* the last grain of a frame may be short */
    return low * s->grain;
}

/* --- what is believed ----------------------------------------------------- */

/* A start is also what a piece is on its way. */
static struct cost_terms terms_of(const struct sizing *s)
{
    struct cost_terms t = {.each = 1};

    if (cost_is_known(s->cost)) {
        t = cost_terms(s->cost);
        t.wait += s->delay;
    }
    return t;
}

/* A start that waits for longer than others' is as if the node were free later. */
static double lag_of(const struct sizing *s, size_t node)
{
    return cost_is_known(s->cost) ? cost_lag(s->cost, node) : 0;
}

static void take_lags(struct sizing *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->ready[i] = s->free[i] + lag_of(s, i);
}

/* Of a command that is not known, what each is sent first of its part: the
 * slower, the less, as a start costs the others little there; and so of unlike
 * sizes. */
static void set_firsts(struct sizing *s)
{
    double all = 0, slower = 0;

    for (size_t i = 0; i < s->n; i++) {
        double speed = s->speed[i] > 0 ? cost_speed(s->cost, i) : 0;

        s->share[i] = speed;
        s->key[i] = -(int64_t)fmin(speed * 1e9, 1e18);
        s->index[i] = (uint32_t)i;
        all += speed;
    }
    order_descending(s->index, s->scratch, s->n, s->key);
    for (size_t k = 0; k < s->n; k++) {
        size_t node = s->index[k];
        double speed = s->share[node];
        double part = FIRST_LEAST + FIRST_SPAN * (slower + speed / 2) / all;

        if (cost_spread(s->cost, node) > FIRST_SURE)
            part *= FIRST_UNSURE;
        s->first[node] = part;
        slower += speed;
    }
}

/* --- how much at once ----------------------------------------------------- */

static double worst_of(size_t n)
{
    return n > 1 ? 0.9 * sqrt(2 * log((double)n)) : 0;
}

/* How far so much work from a unit on may be off; relative. */
static double deviation(const struct sizing *s, uint64_t from, double work)
{
    uint64_t units = units_of(s, from, s->frame.end, work);
    uint64_t most = s->frame.end > from ? s->frame.end - from : 0;
    uint64_t some = units > 0 ? units : s->grain;
    struct slice piece = {from, from + (some < most ? some : most)};
    struct cost_part part = sizing_place(s, piece);

    return cost_work_deviation(s->cost, &part);
}

/* The seconds of work that are held back, of those in one piece of a node that may
 * be off by so much, relative. */
static double held_back(const struct sizing *s,
                        size_t node,
                        double span,
                        double noise)
{
    double worst = worst_of(s->n);
    double maybe = s->is_young ? SIZING_START_MAYBE * span : SIZING_START_LEAST;
    double start = fmax(cost_start_most(s->cost, node) + s->delay, maybe);
    double one = noise * span * worst;
    double tail = fmin(span / 2, 1.5 * one + 2 * start);

    if (start < SIZING_INSURANCE * span)
        return span / 2;
    if (!(start + noise * tail * worst < one))
        tail = 0;
    if (s->is_young && start < 2 * SIZING_UNSEEN * span)
        tail = fmax(tail, SIZING_UNSEEN * span);
    return tail;
}

/* The part of `work`, from a unit on, that a node is sent at once; late: so many
 * seconds of it are more than it should have. */
static double at_once(const struct sizing *s,
                      size_t node,
                      uint64_t from,
                      double work,
                      double late)
{
    struct cost_terms t = terms_of(s);
    double speed = cost_speed(s->cost, node), span = t.each * work / speed;
    double start = t.wait + lag_of(s, node) + t.burn / speed, spread, off;

    if (!cost_is_known(s->cost))
        return s->first[node];
    if (late < start + 2 * cost_noise(s->cost) * span)
        late = 0;
    if (!(span > late))
        return 0;
    spread = cost_spread(s->cost, node);
    off = deviation(s, from, work);
    off = sqrt(spread * spread + off * off);
    return 1 - (late + held_back(s, node, span - late, off)) / span;
}

static uint64_t to_grains(const struct sizing *s, double units)
{
    return (uint64_t)(units / (double)s->grain + GRAIN_SLACK) * s->grain;
}

/* The loads as speeds, of the scale of those that the cost has. */
static void take_loads(struct sizing *s, const double load[])
{
    double loads = 0, speeds = 0;

    for (size_t i = 0; i < s->n; i++) {
        loads += load[i];
        speeds += load[i] > 0 ? cost_speed(s->cost, i) : 0;
    }
    for (size_t i = 0; i < s->n; i++)
        s->speed[i] = load[i] / loads * speeds;
}

/* Does nobody wait at the end of this frame, as another is begun beside it? */
static int is_end_free(const struct sizing *s)
{
    return s->is_followed && s->beside >= 0;
}

/* So much slower is a node taken to be than it is, of which the fastest does `most`:
 * it is to end early. */
static double hedged(const struct sizing *s, size_t node, double most, double g)
{
    double speed = s->speed[node];

    return speed > 0 ? speed
                           / (1
                              + cost_spread_unseen(s->cost, node)
                                    * log(most / speed) / g)
                     : 0;
}

void sizing_take_speeds(struct sizing *s, const double load[])
{
    double most = 0, g;
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        s->speed[i] = load[i] > 0 ? cost_speed(s->cost, i) : 0;
        most = fmax(most, s->speed[i]);
        n += s->speed[i] > 0;
    }
    if (n < 2 || is_end_free(s))
        return;
    g = sqrt(2 * log((double)n));
    for (size_t i = 0; i < s->n; i++)
        s->speed[i] = hedged(s, i, most, g);
}

/* --- levels --------------------------------------------------------------- */

/* Work in whole grains that a node does until a level. */
static double whole_part(const struct sizing *s,
                         const struct cost_terms *t,
                         size_t node,
                         double level)
{
    double part = level_part(level, s->ready[node], s->speed[node], t);

    return (double)to_grains(s, fmin(part, 0x1p62));
}

static double whole_parts(const struct sizing *s,
                          const struct cost_terms *t,
                          double level)
{
    double sum = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->speed[i] > 0)
            sum += whole_part(s, t, i, level);
    return sum;
}

/* Between two levels, of which the first is too low and the second is not, all
 * get whole grains.  The second is at most a grain of the slowest that gets any
 * above the first. */
static void whole_levels(const struct sizing *s,
                         const struct cost_terms *t,
                         double work,
                         double level[2])
{
    double slowest = 0, fastest = 0;

    level[0] = level[1] = level_find(s->ready, s->speed, s->n, t, work);
    for (size_t i = 0; i < s->n; i++)
        if (level_part(level[0], s->ready[i], s->speed[i], t) > 0) {
            fastest = fmax(fastest, s->speed[i]);
            slowest = slowest > 0 ? fmin(slowest, s->speed[i]) : s->speed[i];
        }
    if (!(slowest > 0) || work > WHOLE_FINE * (double)s->n * (double)s->grain)
        return;
    level[1] += 1.001 * t->each * (double)s->grain / slowest;
    for (int k = 0;
         k < WHOLE_STEPS
         && (level[1] - level[0]) * fastest > t->each * (double)s->grain / 16;
         k++) {
        double middle = (level[0] + level[1]) / 2;

        level[whole_parts(s, t, middle) >= work] = middle;
    }
}

/* --- a frame -------------------------------------------------------------- */

/* Each one's work, in whole grains where these are few. */
static void share_out(struct sizing *s, const struct cost_terms *t, double work)
{
    double level[2], left = work;
    int is_fine = work > WHOLE_FINE * (double)s->n * (double)s->grain;

    whole_levels(s, t, work, level);
    s->level = level[1];
    for (size_t i = 0; i < s->n; i++) {
        s->share[i] = 0;
        if (s->speed[i] > 0)
            s->share[i] =
                is_fine ? level_part(level[0], s->ready[i], s->speed[i], t)
                        : whole_part(s, t, i, level[0]);
        left -= s->share[i];
    }
    for (size_t i = 0; i < s->n && !is_fine && left > 0; i++) {
        double more =
            s->speed[i] > 0 ? whole_part(s, t, i, level[1]) - s->share[i] : 0;

        more = fmin(more, left);
        s->share[i] += more;
        left -= more;
    }
}

/* Seconds that a node's share would end after all others, if speeds are as they
 * are believed to be, not as the loads have it. */
static double lateness(const struct sizing *s, size_t node, double level)
{
    return s->free[node] + cost_seconds(s->cost, node, s->share[node]) - level;
}

/* The heads, one behind the other. */
static void place_heads(struct sizing *s,
                        double level,
                        struct slice head[],
                        struct slice *rest)
{
    uint64_t at = s->frame.begin;
    double before = 0;

    for (size_t i = 0; i < s->n; i++) {
        double part = s->share[i] > 0 ? at_once(s, i, at, s->share[i],
                                                lateness(s, i, level))
                                      : 0;
        uint64_t n;

        before += part * s->share[i];
        n = part > 0 /* else a last grain that is short would be its */
                ? units_of(s, at, s->frame.end, before - work_before(s, at))
                : 0;
        if (n == 0 && part * s->share[i] > 0)
            n = s->frame.end - at < s->grain ? s->frame.end - at : s->grain;
        head[i] = (struct slice){at, at + n};
        at += n;
    }
    *rest = (struct slice){at, s->frame.end};
}

void sizing_cut(struct sizing *s,
                const double load[],
                struct slice head[],
                struct slice *rest)
{
    struct cost_terms t = terms_of(s);
    double work = sizing_work(s, s->frame), level = INFINITY;

    if (cost_is_known(s->cost) && s->kind && s->kind->by_speed)
        sizing_take_speeds(s, load);
    else
        take_loads(s, load);
    if (!cost_is_known(s->cost))
        set_firsts(s);
    take_lags(s);
    share_out(s, &t, work);
    if (cost_is_known(s->cost)) {
        sizing_take_speeds(s, load);
        level = level_find(s->ready, s->speed, s->n, &t, work) - s->delay;
    }
    place_heads(s, level, head, rest);
}

/* --- the pool ------------------------------------------------------------- */

void sizing_look(struct sizing *s, double work)
{
    struct cost_terms t = terms_of(s);
    double level[2];

    if (!(work > 0))
        return;
    if (!cost_is_known(s->cost))
        set_firsts(s);
    take_lags(s);
    whole_levels(s, &t, work + fmax(s->beside, 0), level);
    s->level = level[1];
}

/* The work of a batch that a node takes, whose part of all frames is more or less
 * than that.  That is no frame's, so only what was seen bounds it. */
static double part_of_all(const struct sizing *s,
                          const struct cost_terms *t,
                          size_t node,
                          uint64_t from,
                          double part,
                          double most)
{
    double speed = s->speed[node];
    double start = ((t->wait + lag_of(s, node)) * speed + t->burn) / t->each;
    double seen = cost_largest(s->cost, node);
    int is_last = !(s->beside > 0) && !s->is_followed;

    if (s->is_followed)
        part *= fmin(SIZING_FOLLOWED, 1 / (1 + deviation(s, from, part)));
    else
        part *= at_once(s, node, from, part, 0);
    if (seen > 0)
        part = fmin(part, SIZING_GROWTH * seen);
    return !is_last && most - part < start / 2 ? most : part;
}

uint64_t sizing_part(const struct sizing *s,
                     size_t node,
                     double now,
                     struct slice batch)
{
    struct cost_terms t = terms_of(s);
    double speed = s->speed[node], part, work, most = sizing_work(s, batch);
    uint64_t units;

    if (!(speed > 0))
        return 0;
    part =
        level_part(s->level, cost_is_known(s->cost) ? now + lag_of(s, node) : 0,
                   speed, &t);
    work = fmin(part, most);
    if (to_grains(s, work) == 0 && work < most)
        return 0;
    if (s->beside < 0)
        work *= at_once(s, node, batch.begin, work, 0);
    else
        work = part_of_all(s, &t, node, batch.begin, part, most);
    units = units_of(s, batch.begin, batch.end, work);
    return units > 0 ? units : s->grain;
}

double sizing_end(
    const struct sizing *s, size_t node, double work, double begun, double now)
{
    double end = begun + s->delay;

    end += cost_seconds(s->cost, node, work);
    return end > now ? end : now + (now - end);
}
