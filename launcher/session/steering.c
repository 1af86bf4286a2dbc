/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A round: each node's record is compared with its first one of the round; as
 * soon as all that report have done enough for their speed to be known, the
 * step is taken.  Then limits go down, when all that is confirmed others go
 * up, and when that is, too, the next round begins.
 *
 * Before the first of all that no node has a limit, nor while nothing is
 * metered.
 */
#include "launcher/session/steering.h"
#include "launcher/base/notice.h"
#include "launcher/session/rack_power.h"
#include "launcher/session/steering_decide.h"
#include "pmix_bcast/clock.h"
#include "policy/handover.h"
#include "policy/pace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A node is silent that has not been heard for this and so many rounds: one
 * that ticks only at the end of a region is heard once in a round. */
#define SILENT_NS     INT64_C(2000000000)
#define SILENT_ROUNDS 4
#define LOOK_NS       INT64_C(10000000)    /* between two looks who is */
#define FIRST_ROUND   INT64_C(10000000000) /* as long as we think it is */
/* So long nothing is metered, then all limits go.  A program whose ticks are
 * further apart gets twice as long each time that it ticks again, up to eight
 * times. */
#define STILL_S       10
#define STILL_NS      (STILL_S * INT64_C(1000000000))
#define STILL_MOST_NS (8 * STILL_NS)
/* So long a program may have MPI ranks that end no region. */
#define LOOSE_S  15
#define LOOSE_NS (LOOSE_S * INT64_C(1000000000))
/* Of so much useful time it is known if it was CPU time, or time that somebody
 * else had the CPU. */
#define CPU_LEAST_NS 200000000.0
#define CPU_PART     0.8

/* --- limits --------------------------------------------------------------- */

/* With the next mailing. */
static void ask_meter(struct steering *s, size_t i)
{
    struct writer w = {0};

    write_u64(&w, s->node[i].wanted);
    s->node[i].asked = s->node[i].wanted;
    s->node[i].is_asked = 1;
    s->asked++;
    mailing_add(&s->limits, i, &w);
}

static void begin_round(struct steering *s)
{
    for (size_t i = 0; i < s->n; i++) {
        meter_window_clear(&s->node[i].window);
        s->node[i].is_known = 0;
    }
    s->round_began_ns = clock_ns();
    s->looked_ns = 0;
    s->known = 0;
}

/* Of a node that is out of reach nobody has anything, and if it was given more
 * than its part, it has that until its guard puts it back. */
static uint64_t given_to(const struct watched *w)
{
    if (steering_can_set(w))
        return w->power.limit;
    return w->kept > w->start ? w->kept : w->start;
}

/* What may be given: all that was there at the start and is not given now. */
static uint64_t left(const struct steering *s)
{
    uint64_t budget = 0, given = 0;

    rack_power_clear(s->racks);
    for (size_t i = 0; i < s->n; i++) {
        budget += s->node[i].start;
        given += given_to(&s->node[i]);
        rack_power_give(s->racks, i, given_to(&s->node[i]));
    }
    return budget > given ? budget - given : 0;
}

static uint64_t least_of_two(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void keep_record(struct watched *w)
{
    w->kept = w->asked > w->power.limit ? w->asked : w->power.limit;
}

static void raise_limits(struct steering *s)
{
    uint64_t rest = left(s);

    for (size_t i = 0; i < s->n; i++) {
        struct watched *w = &s->node[i];

        uint64_t more = least_of_two(rest, rack_power_left(s->racks, i));

        if (!steering_can_set(w) || w->wanted <= w->power.limit || more == 0)
            continue;
        more = least_of_two(more, w->wanted - w->power.limit);
        w->wanted = w->power.limit + more;
        rest -= more;
        rack_power_give(s->racks, i, more);
        ask_meter(s, i);
    }
    mailing_send(&s->limits);
}

static void lower_limits(struct steering *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (steering_can_set(&s->node[i])
            && s->node[i].wanted < s->node[i].power.limit)
            ask_meter(s, i);
    mailing_send(&s->limits);
}

/* Whenever all that was asked for is confirmed, or will never be. */
static void go_on(struct steering *s)
{
    if (s->asked == 0 && s->is_limiting)
        lower_limits(s);
    if (s->asked == 0 && s->is_limiting)
        raise_limits(s);
    if (s->asked == 0)
        begin_round(s);
}

static void tell_uncapped(struct steering *s)
{
    if (s->told_uncapped || s->moved_ns == 0 || !steering_is_idle(s))
        return;
    s->told_uncapped = 1;
    notice("no power is capped here: %s has nothing to move between nodes; "
           "--%spower=save lowers the power of nodes that wait",
           s->rule.variant == POWER_PAIR ? "pair" : "boost",
           s->is_own ? "" : "evenstep-");
}

/* All at once, as far as nothing is asked of them: to what is theirs at the
 * start, or to no limit at all. */
static void limit_all(struct steering *s, int on)
{
    s->is_limiting = on;
    steering_worth_again(&s->worth);
    for (size_t i = 0; i < s->n; i++) {
        struct watched *w = &s->node[i];

        w->wanted = on ? w->start : 0;
        if (steering_can_set(w) && !w->is_asked && w->power.limit != w->wanted)
            ask_meter(s, i);
    }
    mailing_send(&s->limits);
}

/* Now that there is something to go by. */
static void begin_limits(struct steering *s)
{
    if (s->told_still && s->still_ns < STILL_MOST_NS)
        s->still_ns *= 2;
    limit_all(s, 1);
    tell_uncapped(s);
    s->begun_ns = clock_ns();
}

static void confirmed(struct steering *s, size_t i, const struct msg_limited *m)
{
    struct watched *w = &s->node[i];

    if (!w->is_asked)
        return;
    s->asked--;
    w->is_asked = 0;
    if (m->limit == w->asked) {
        w->power.limit = m->limit;
    } else {
        if (m->text[0]) /* else its guard has gone, with the step */
            notice("warning: %s: its limit stays as it is: %s",
                   session_node(s->session, i)->name, m->text);
        keep_record(w);
        w->power.limit = 0;
        w->is_settable = 0;
    }
    go_on(s);
}

/* --- rounds --------------------------------------------------------------- */

/* For the others, in a long region: nothing will be heard of it until the end,
 * and it keeps its limit. */
static int waits(const struct watched *w)
{
    return w->window.last.is_waiting && !w->is_known;
}

/* Once silent, until it is heard again: the rounds without it are short. */
static void find_silent(struct steering *s, int64_t now)
{
    int64_t longest = SILENT_NS + s->record_ns + SILENT_ROUNDS * s->round_ns;

    s->missing = 0;
    s->looked_ns = now;
    for (size_t i = 0; i < s->n; i++) {
        struct watched *w = &s->node[i];

        if (w->is_lost || w->heard_ns == 0 || now - w->heard_ns > longest)
            w->is_silent = 1;
        s->missing += !w->is_silent && !w->is_known && !waits(w);
    }
}

static void end_round(struct steering *s, int64_t now)
{
    s->round_ns = now - s->round_began_ns;
    steering_decide(s);
    go_on(s);
}

/* --- what nodes tell ------------------------------------------------------ */

static void tell_misuse(const struct steering *s, size_t i)
{
    struct watched *w = &s->node[i];

    if (w->told_misuse || w->window.last.misuse == 0)
        return;
    w->told_misuse = 1;
    notice("warning: %s: calls of evenstep_tick() that make no sense are left "
           "out: before the first region, beyond its total, or backwards",
           session_node(s->session, i)->name);
}

static void note_known(struct steering *s, struct watched *w)
{
    if (w->is_known || !meter_window_is_enough(&w->window))
        return;
    w->is_known = 1;
    s->known++;
    if (s->missing > 0)
        s->missing--;
}

static void note_ends(const struct steering *s,
                      struct watched *w,
                      const struct msg_progress *m)
{
    int64_t every_ns = s->order.interval_ms * INT64_C(1000000);

    if (every_ns < s->record_ns)
        every_ns = s->record_ns;
    if (m->epoch != w->window.last.epoch)
        w->iterations = (struct iterations){.n = 0};
    iterations_add(&w->iterations, (uint64_t)fmin(m->progress, 0x1p62),
                   w->heard_ns, every_ns);
    if (w->iterations.n == 0) { /* from here on times are known */
        w->marked = 0;
        w->marked_ns = w->iterations.end_ns;
    }
}

static void take_progress(struct steering *s,
                          size_t i,
                          const struct msg_progress *m)
{
    struct watched *w = &s->node[i];
    int64_t now = clock_ns();

    w->heard_ns = now;
    w->is_silent = 0;
    note_ends(s, w, m);
    if (meter_window_add(&w->window, m)) {
        s->known -= (size_t)w->is_known;
        w->is_known = 0;
    }
    tell_misuse(s, i);
    if (m->slots > 0 && s->moved_ns > 0) /* none: all of them have ended */
        s->moved_ns = now;
    if (m->slots > 0 && !s->is_limiting && s->asked == 0
        && s->rule.variant != POWER_OFF)
        begin_limits(s);
    if (s->asked > 0)
        return; /* between two rounds */
    note_known(s, w);
    if (now - s->looked_ns >= LOOK_NS)
        find_silent(s, now);
    if (s->missing == 0 && s->known >= 2)
        end_round(s, now);
}

static void receive_power(struct steering *s,
                          size_t i,
                          const struct msg_power *m)
{
    struct watched *w = &s->node[i];

    if (w->is_asked)
        return; /* it has told before */
    w->power = *m;
    w->power.limit = 0; /* nothing is limited yet */
    w->start = rack_power_start(s->racks, i, m->limit, m->floor, m->unit);
    if (s->rule.variant
        == POWER_SAVE) /* more than at the start is for nobody */
        w->power.ceiling = w->start;
    w->wanted = w->start;
    w->is_settable = m->limit > 0;
    if (w->is_settable && s->moved_ns == 0)
        s->moved_ns = clock_ns();
    if (steering_can_set(w) && s->is_limiting) {
        ask_meter(s, i);
        mailing_send(&s->limits);
    }
    s->offered += (size_t)!w->has_offered;
    w->has_offered = 1;
    if (s->offered == s->n)
        tell_uncapped(s);
    if (w->is_settable || s->told_off)
        return;
    s->told_off = 1;
    notice("warning: %s: no power is steered: %s",
           session_node(s->session, i)->name, m->unit);
}

int steering_message(struct steering *s,
                     size_t i,
                     uint16_t type,
                     const uint8_t *body,
                     size_t len)
{
    struct msg_progress progress;
    struct msg_limited limited;
    struct msg_power power;

    if (type == MSG_PROGRESS && msg_read_progress(&progress, body, len) == 0)
        take_progress(s, i, &progress);
    else if (type == MSG_POWER && msg_read_power(&power, body, len) == 0)
        receive_power(s, i, &power);
    else if (type == MSG_LIMITED && msg_read_limited(&limited, body, len) == 0)
        confirmed(s, i, &limited);
    else
        return 0;
    s->is_alive = 1;
    return 1;
}

static void back_to_start(struct steering *s)
{
    steering_worth_again(&s->worth);
    for (size_t i = 0; i < s->n; i++)
        s->node[i].wanted = s->is_limiting ? s->node[i].start : 0;
    go_on(s);
}

void steering_hold(struct steering *s, int is_held)
{
    if (is_held && !s->is_held)
        back_to_start(s);
    s->is_held = is_held;
}

double steering_speed(const struct steering *s, size_t i)
{
    const struct watched *w = &s->node[i];

    return handover_speed(w->power.limit, w->start,
                          power_response_exponent(&s->response));
}

void steering_note_cpu(struct steering *s,
                       size_t node,
                       double useful_ns,
                       double cpu_ns)
{
    struct watched *w = &s->node[node];
    double useful = useful_ns - w->useful_ns, cpu = cpu_ns - w->cpu_ns;

    if (useful >= 0 && useful < CPU_LEAST_NS)
        return;
    w->has_no_cpu =
        cpu_ns > 0 && useful > 0 && cpu >= 0 && cpu < CPU_PART * useful;
    w->useful_ns = useful_ns;
    w->cpu_ns = cpu_ns;
}

void steering_lost(struct steering *s, size_t i)
{
    struct watched *w = &s->node[i];

    if (steering_can_set(w))
        keep_record(w);
    w->is_lost = 1;
    if (w->is_asked)
        s->asked--;
    w->is_asked = 0;
    back_to_start(s);
}

/* By halo exchange, say, or on communicators of some. */
static void tell_loose(struct steering *s)
{
    if (s->told_loose || s->told_uncapped || !s->is_limiting
        || clock_ns() - s->begun_ns < LOOSE_NS)
        return;
    for (size_t i = 0; i < s->n; i++)
        if (s->node[i].window.last.progress > 0)
            return;
    s->told_loose = 1;
    notice(
        "nothing is steered so far: in %d s the program had no blocking "
        "collective of all MPI ranks; evenstep_tick() can say how far it is, "
        "see libevenstep(3)",
        LOOSE_S);
}

void steering_look(struct steering *s)
{
    tell_loose(s);
    if (s->moved_ns == 0 || s->asked > 0
        || clock_ns() - s->moved_ns < s->still_ns)
        return;
    if (s->is_limiting)
        limit_all(s, 0);
    if (!s->told_still && !s->told_uncapped)
        notice("warning: no progress was metered for %d s: no limits are set "
               "until there is some, by a collective of all MPI ranks or by "
               "evenstep_tick(), see libevenstep(3)",
               STILL_S);
    s->told_still = 1;
}

/* --- start and end -------------------------------------------------------- */

int steering_is_alive(const struct steering *s)
{
    return s->is_alive;
}

int steering_has_moved(const struct steering *s)
{
    return s->has_moved;
}

double steering_skew(const struct steering *s)
{
    return s->skew;
}

struct steering_view steering_view(const struct steering *s, size_t i)
{
    const struct watched *w = &s->node[i];

    return (struct steering_view){.name = session_node(s->session, i)->name,
                                  .rack = session_node(s->session, i)->rack,
                                  .unit =
                                      w->power.limit > 0 ? w->power.unit : "",
                                  .slots = w->window.last.slots,
                                  .progress = w->window.last.progress,
                                  .speed = w->speed * 1e9,
                                  .waiting = w->waiting,
                                  .skew = w->window.last.skew,
                                  .limit = w->power.limit,
                                  .floor = w->power.floor,
                                  .ceiling = w->power.ceiling,
                                  .misuse = w->window.last.misuse};
}

static enum monitor_power power_of(const struct steering *s,
                                   const struct config_power *config)
{
    if (s->rule.variant == POWER_OFF)
        return MONITOR_ONLY;
    return strcmp(config->actuator, "threads") == 0 ? MONITOR_THREADS
                                                    : MONITOR_GUARD;
}

static void write_monitor(struct steering *s, struct writer *w, size_t i)
{
    if (s->is_own)
        session_step_name(s->session, i, s->order.dir);
    msg_write_monitor(w, &s->order);
}

static int order_all(struct steering *s)
{
    struct writer *w = calloc(s->n, sizeof *w);

    for (size_t i = 0; w && i < s->n; i++)
        write_monitor(s, &w[i], i);
    if (w)
        session_send_each(s->session, MSG_MONITOR, w, NULL);
    free(w);
    return w ? 0 : -1;
}

static int order_monitors(struct steering *s,
                          const char *step,
                          const struct config_power *config,
                          enum step_meter meter)
{
    s->order = (struct msg_monitor){
        .interval_ms = (uint32_t)config->interval_ms,
        .aggregate = config->aggregate,
        .power = power_of(s, config),
        .start = config->cap > 0 ? fmin(config->cap, 1) : 1,
        .floor = config->floor,
        .record_ms = pace_record_ms(s->n, 0),
        .meter = meter};
    s->record_ns = s->order.record_ms * INT64_C(1000000);
    s->is_own = step == NULL;
    if (step)
        snprintf(s->order.dir, sizeof s->order.dir, "%s", step);
    return order_all(s);
}

/* Its monitor is new, and so is what can be set there. */
void steering_returned(struct steering *s, size_t i)
{
    struct watched *w = &s->node[i];
    struct writer order = {0};

    s->known -= (size_t)w->is_known;
    w->is_lost = w->is_settable = w->is_known = 0;
    meter_window_clear(&w->window);
    w->power = (struct msg_power){.limit = 0};
    write_monitor(s, &order, i);
    session_send(s->session, i, MSG_MONITOR, &order);
}

struct steering *steering_start(struct session *session,
                                const char *step,
                                const struct config_power *config,
                                enum power_variant variant,
                                enum step_meter meter)
{
    size_t n = session_size(session);
    struct steering *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->session = session;
    s->n = n;
    s->node = calloc(n, sizeof *s->node);
    s->power = calloc(n, sizeof *s->power);
    s->need = calloc(n, sizeof *s->need);
    s->seen = calloc(n, sizeof *s->seen);
    s->racks = rack_power_new(session, config);
    s->room = malloc(power_bytes(n));
    if (!s->node || !s->power || !s->need || !s->seen || !s->racks
        || !s->room) {
        steering_stop(s);
        return NULL;
    }
    s->rule = (struct power_rule){.variant = variant,
                                  .bound = config->bound,
                                  .band = config->band,
                                  .gain = config->gain};
    if (variant != POWER_OFF && config->has_start)
        notice("warning: power { start } of evenstep.conf has no effect any "
               "more: give cap, see evenstep.conf(5)");
    s->worth.saves = variant == POWER_SAVE;
    mailing_begin(&s->limits, session, MSG_LIMIT, MAILING_FEW);
    s->round_ns = FIRST_ROUND;
    s->still_ns = STILL_NS;
    begin_round(s);
    if (order_monitors(s, step, config, meter) == 0)
        return s;
    steering_stop(s);
    return NULL;
}

void steering_stop(struct steering *s)
{
    if (!s)
        return;
    mailing_clear(&s->limits);
    free(s->node);
    free(s->power);
    free(s->need);
    free(s->seen);
    rack_power_free(s->racks);
    free(s->room);
    free(s);
}
