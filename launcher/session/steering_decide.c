/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/steering_decide.h"
#include "launcher/base/notice.h"
#include "launcher/session/rack_power.h"

#include <math.h>
#include <string.h>

/* A long region that ends sooner cannot be helped any more, the next ones can. */
#define SAVE_AFTER_NS INT64_C(3000000000)
/* Where joules are counted, which evenstep-power reads every 10 s. */
#define COUNTED_AFTER_NS INT64_C(23000000000)
#define NEAR_NS          1500000000.0
#define WORTH_TOLD       3 /* times that it stops are told */

int steering_can_set(const struct watched *w)
{
    return !w->is_lost && w->is_settable;
}

static int shifts(const struct steering *s)
{
    return s->rule.variant == POWER_PAIR || s->rule.variant == POWER_BOOST;
}

int steering_is_idle(const struct steering *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (steering_can_set(&s->node[i])
            && s->node[i].start < s->node[i].power.ceiling)
            return 0;
    return shifts(s);
}

/* All that are known have told it. */
static int know_all(const struct steering *s,
                    int (*told)(const struct meter_window *))
{
    for (size_t i = 0; i < s->n; i++)
        if (s->node[i].is_known && !told(&s->node[i].window))
            return 0;
    return 1;
}

static int has_pace(const struct meter_window *w)
{
    return meter_window_pace(w) > 0;
}

static int has_left(const struct meter_window *w)
{
    return has_pace(w) && w->last.left_ns > 0;
}

static int has_far_to_go(const struct meter_window *w)
{
    return (double)w->last.left_ns > NEAR_NS;
}

static int has_ended_one(const struct meter_window *w)
{
    return floor(w->last.progress) > floor(w->first.progress);
}

static void measure_speeds(struct steering *s)
{
    double slowest = INFINITY;
    int by_pace = know_all(s, has_pace);

    for (size_t i = 0; i < s->n; i++) {
        struct watched *w = &s->node[i];

        w->speed = w->is_known ? meter_window_speed(&w->window) : 0;
        s->power[i] = (struct power_node){.limit = w->power.limit,
                                          .floor = w->power.floor,
                                          .ceiling = w->power.ceiling};
        if (!w->is_known)
            continue;
        s->power[i].progress =
            by_pace ? meter_window_pace(&w->window) : w->speed;
        slowest = fmin(slowest, s->power[i].progress);
    }
    for (size_t i = 0; i < s->n; i++)
        s->node[i].waiting =
            s->node[i].is_known ? 1 - slowest / s->power[i].progress : 0;
}

/* In a long region all are to come to its end together: who has more of it
 * left, as it was slower before, has to be faster now. */
static void look_at_the_end(struct steering *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->node[i].is_known)
            s->power[i].progress /=
                (double)s->node[i].window.last.left_ns / 1e9;
}

/* How long the node's iterations took that have ended since this was asked; 0
 * if none has. */
static double seconds_of_iterations(struct watched *w)
{
    const struct iterations *it = &w->iterations;
    double seconds = 0;

    if (w->marked_ns > 0 && it->n > w->marked)
        seconds = (double)(it->end_ns - w->marked_ns) / 1e9
                  / (double)(it->n - w->marked);
    w->marked = it->n;
    w->marked_ns = it->end_ns;
    return seconds;
}

/* They are the same ones for all: by the node that knows best. */
static double iteration_seconds(struct steering *s)
{
    double longest = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->node[i].is_known)
            longest = fmax(longest, seconds_of_iterations(&s->node[i]));
    return longest;
}

/* Of all that is theirs at the start, the part that others have now. */
static double part_moved(const struct steering *s)
{
    double all = 0, moved = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct watched *w = &s->node[i];

        if (!steering_can_set(w))
            continue;
        all += (double)w->start;
        moved += fabs((double)w->wanted - (double)w->start);
    }
    return all > 0 ? moved / 2 / all : 0;
}

/* And what is expected of nodes with these limits. */
static void move_limits(struct steering *s)
{
    rack_power_step(s->racks, &s->rule, s->power);
    for (size_t i = 0; i < s->n; i++) {
        struct watched *w = &s->node[i];

        if (w->wanted > 0)
            s->power[i].progress *=
                (double)s->power[i].limit / (double)w->wanted;
        w->wanted = s->power[i].limit;
    }
}

/* Nobody goes so low that it could cost more than may be lost: of those that save
 * power a change is seen after a round at last, and the others gain meanwhile. */
static void keep_depth(struct steering *s)
{
    int saves = s->rule.variant == POWER_SAVE;
    double round = (double)s->round_ns / 1e9;

    power_keep_depth(steering_worth_depth(&s->worth, saves ? 2 * round : round,
                                          power_response_most(&s->response)),
                     saves, s->seen, s->power, s->n);
    for (size_t i = 0; i < s->n; i++)
        s->node[i].wanted = s->power[i].limit;
}

static void take_step(struct steering *s)
{
    int is_long = know_all(s, has_left), is_far = know_all(s, has_far_to_go);

    if (is_long && !is_far && !know_all(s, has_ended_one)
        && !steering_worth_promises(&s->worth))
        return; /* the paces are those of a part, with or without its end */
    for (size_t i = 0; i < s->n; i++)
        if (!steering_can_set(&s->node[i]))
            s->power[i].progress = 0;
    if (s->rule.variant != POWER_SAVE)
        power_need_steady(s->need, s->power, s->n);
    if (is_long && is_far)
        look_at_the_end(s);
    keep_depth(s);
    for (unsigned i = 0; i < power_response_steps(&s->response); i++)
        move_limits(s);
    s->has_moved |= part_moved(s) >= WORTH_MOVED;
    steering_worth_stepped(&s->worth, part_moved(s));
}

static void put_back(struct steering *s)
{
    for (size_t i = 0; i < s->n; i++) {
        s->node[i].tried = s->node[i].power.limit;
        s->node[i].wanted = s->node[i].start;
    }
}

static void resume(struct steering *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->node[i].wanted = s->node[i].tried;
}

static void tell_worth(struct steering *s)
{
    if (s->is_told_off || s->told_worth == WORTH_TOLD)
        return;
    s->is_told_off = 1;
    s->told_worth++;
    if (s->worth.with.n == 0 || s->worth.is_over)
        notice("no power is %s %s: it cost the program time; all limits are "
               "as at the start",
               shifts(s) ? "steered" : "saved",
               s->worth.is_over ? "any more" : "for now");
    else
        notice("no power is %s for now: it %s, %.3g s an iteration with it, "
               "%.3g s without; all limits are as at the start",
               shifts(s) ? "steered" : "saved",
               shifts(s) ? "did not make the program faster"
                         : "made the program slower",
               s->worth.with.mean, s->worth.without.mean);
}

/* It was told that it does not, and now it does. */
static void tell_again(struct steering *s)
{
    if (!s->is_told_off || s->worth.phase != WORTH_GOES_ON)
        return;
    s->is_told_off = 0;
    notice("power is %s again: %s", shifts(s) ? "steered" : "saved",
           shifts(s) ? "by now it makes the program faster"
                     : "by now it costs the program no time");
}

/* Does the node that comes last do what no CPU makes faster, as to write a file? */
static int waits_for_another(const struct steering *s)
{
    double slowest = INFINITY;
    size_t last = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->power[i].progress > 0 && s->power[i].progress < slowest) {
            slowest = s->power[i].progress;
            last = i;
        }
    return s->n > 0 && s->node[last].has_no_cpu;
}

static int is_counted(const struct steering *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->node[i].power.actuator, "rapl") == 0)
            return 1;
    return 0;
}

/* What it saves is told by the watts of before: of two readings at least. */
static int is_too_soon(const struct steering *s)
{
    return s->rule.variant == POWER_SAVE
           && s->round_began_ns - s->begun_ns
                  < (is_counted(s) ? COUNTED_AFTER_NS : SAVE_AFTER_NS);
}

static enum worth_order what_to_do(struct steering *s)
{
    struct worth_round round = {.seconds = iteration_seconds(s),
                                .skew = s->skew,
                                .elapsed = (double)s->round_ns / 1e9,
                                .loss = power_loss(s->seen, s->power, s->n)};
    enum worth_order order;

    if (steering_is_idle(s))
        return WORTH_HOLD;
    if (shifts(s)) {
        round.promise = power_promise(s->power, s->n);
        round.gain = power_response_gain(&s->response, s->seen, s->power, s->n);
    }
    /* Limits are of what computes; but who waits may save in any case. */
    if (shifts(s) && waits_for_another(s))
        return s->worth.phase == WORTH_TRIES || s->worth.phase == WORTH_GOES_ON
                   ? WORTH_PUT_BACK
                   : WORTH_HOLD;
    order = steering_worth_next(&s->worth, &round);
    return order == WORTH_STEER && is_too_soon(s) ? WORTH_HOLD : order;
}

void steering_decide(struct steering *s)
{
    measure_speeds(s);
    s->skew = power_skew(s->power, s->n, s->room);
    power_response_note(&s->response, s->seen, s->power, s->n);
    for (size_t i = 0; i < s->n; i++)
        s->node[i].wanted = s->node[i].power.limit;
    if (s->is_limiting && !s->is_held)
        switch (what_to_do(s)) {
        case WORTH_STEER:
            tell_again(s);
            take_step(s);
            break;
        case WORTH_PUT_BACK:
            put_back(s);
            break;
        case WORTH_RESUME:
            resume(s);
            break;
        case WORTH_STOP:
            tell_worth(s);
            break;
        case WORTH_HOLD:
            break;
        }
}
