/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/steering_worth.h"

#include <math.h>

#define SETTLE      4u  /* times that are left out as steering begins */
#define LEAST       4u  /* rounds that tell something */
#define MOST        12u /* that are enough, whatever the noise */
#define WINDOW      16u
#define WINDOW_MOST 1024u
#define WAIT        160u
#define WAIT_MOST   4096u
#define APART       4.0  /* times the skew */
#define OBVIOUS     0.1  /* gain, by few times */
#define ALIKE       0.25 /* two rounds */
#define BEGIN_MOST  5u   /* rounds until it is steered all the same */
#define LONG        1.5  /* medians */
#define MUCH        0.2  /* that is promised */
#define PROMISES    2u   /* rounds */
#define ALIKE_LEAST 2u   /* times */
#define OTHERS      2u   /* rounds */
#define LOOK_AT     0.5  /* of what may be lost */
#define ENOUGH      0.75 /* likewise */
#define EXPONENT    0.25 /* at least */
#define CREDIT      0.05 /* of the time, at most */

static unsigned kept(const struct worth_times *t)
{
    return t->n < WORTH_KEPT ? t->n : WORTH_KEPT;
}

/* The lower one of an even number; by insertion, as they are few. */
static double median(const struct worth_times *t)
{
    double sorted[WORTH_KEPT] = {0};
    unsigned n = kept(t);

    for (unsigned i = 0; i < n; i++) {
        unsigned at = i;

        for (; at > 0 && sorted[at - 1] > t->last[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = t->last[i];
    }
    return sorted[(n - 1) / 2];
}

static void add(struct worth_times *t, double seconds)
{
    double most;

    t->last[t->n++ % WORTH_KEPT] = seconds;
    most = LONG * median(t);
    t->mean = t->squares = 0;
    for (unsigned i = 0; i < kept(t); i++)
        t->mean += fmin(t->last[i], most) / kept(t);
    for (unsigned i = 0; i < kept(t); i++)
        t->squares += pow(fmin(t->last[i], most) - t->mean, 2);
}

/* Two standard errors of the difference of the means, of the first one. */
static double noise(const struct worth_times *a, const struct worth_times *b)
{
    unsigned n = kept(a) + kept(b);

    if (n < 3)
        return INFINITY;
    return 2 * sqrt((a->squares + b->squares) / (n - 2))
           * sqrt(1.0 / kept(a) + 1.0 / kept(b)) / a->mean;
}

static double gain_of(const struct steering_worth *w)
{
    return 1 - w->with.mean / w->without.mean;
}

static void enter(struct steering_worth *w, enum worth_phase phase)
{
    w->phase = phase;
    w->rounds = w->settled = w->promised = 0;
}

static void forget(struct worth_times *t)
{
    *t = (struct worth_times){.n = 0};
}

/* Less than that is no help. */
static double margin(const struct steering_worth *w)
{
    return w->saves ? -WORTH_HARM / 2 : WORTH_MARGIN;
}

/* --- the account ---------------------------------------------------------- */

/* To save nobody is slowed down who comes last: of what iterations have lost then
 * only what is beyond their noise counts. */
static double open_loss(const struct steering_worth *w)
{
    double doubt = w->saves ? noise(&w->without, &w->with) : 0;

    return isfinite(doubt) ? fmax(w->by_pace, w->by_time - doubt * w->open)
                           : w->by_pace;
}

static double allowed(const struct steering_worth *w)
{
    return WORTH_HARM * w->elapsed - w->lost - open_loss(w);
}

static void count_loss(struct steering_worth *w, const struct worth_round *r)
{
    w->open += r->elapsed;
    if (isfinite(r->loss))
        w->by_pace += r->loss * r->elapsed;
    if (isfinite(r->seconds) && r->seconds > 0 && w->without.n > 0)
        w->by_time += r->elapsed * (1 - w->without.mean / r->seconds);
}

/* Now that it is known how long iterations take without. */
static void settle(struct steering_worth *w)
{
    double lost = w->by_pace, part, doubt;

    if (w->with.n > 0 && w->without.n > 0) {
        part = 1 - w->without.mean / w->with.mean;
        doubt = noise(&w->without, &w->with);
        lost = fmax(lost, w->open
                              * (part > doubt    ? part - doubt
                                 : part < -doubt ? part + doubt
                                                 : 0));
    }
    w->lost = fmax(w->lost + lost, -CREDIT * w->elapsed);
    w->by_pace = w->by_time = w->open = 0;
    w->is_over = w->lost > ENOUGH * WORTH_HARM * w->elapsed;
}

static int costs_much(const struct steering_worth *w)
{
    return allowed(w) < (1 - LOOK_AT) * WORTH_HARM * w->elapsed;
}

double steering_worth_depth(const struct steering_worth *w,
                            double seconds,
                            double exponent)
{
    double left = allowed(w);

    if (!(left > 0) || w->is_over)
        return 1;
    if (!(seconds > 0))
        return 0;
    return pow(seconds / (seconds + left),
               1 / fmax(EXPONENT, fmin(exponent, 1)));
}

void steering_worth_again(struct steering_worth *w)
{
    struct steering_worth same = {.saves = w->saves,
                                  .elapsed = w->elapsed,
                                  .lost = w->lost + open_loss(w)};

    *w = same;
    w->is_over = w->lost > ENOUGH * WORTH_HARM * w->elapsed;
}

/* --- phases --------------------------------------------------------------- */

static enum worth_order look_back(struct steering_worth *w)
{
    enter(w, WORTH_LOOKS_BACK);
    forget(&w->without);
    return WORTH_PUT_BACK;
}

/* Steering often begins after a single round; one such time may be any. */
static int helps_clearly(const struct steering_worth *w)
{
    double least = w->without.n < LEAST && !w->saves ? OBVIOUS : margin(w);

    return w->without.n > 0
           && gain_of(w) > least + noise(&w->without, &w->with);
}

/* By so much that it would cost more to look than to see it go on.  To save
 * power costs nothing but what the account allows, and each look back is power. */
static int seems_to_help(const struct steering_worth *w)
{
    double least =
        w->saves ? margin(w) - noise(&w->without, &w->with) : OBVIOUS;

    return w->without.n > 0 && gain_of(w) > least;
}

/* Others at work on the machine, and what the program does besides, hide in its
 * iterations what the nodes show.  A single time without may be of the program's
 * begin, and tells nothing against it. */
static int follows(const struct steering_worth *w, double gain)
{
    int is_longer = w->without.n >= ALIKE_LEAST && w->with.n > 0
                    && gain_of(w) < -noise(&w->without, &w->with);

    return gain > OBVIOUS && !is_longer;
}

static enum worth_order try(struct steering_worth *w, double gain)
{
    if (costs_much(w))
        return look_back(w);
    if (w->with.n < LEAST)
        return WORTH_STEER;
    if (!helps_clearly(w) && !follows(w, gain))
        return w->with.n < MOST && seems_to_help(w) ? WORTH_STEER
                                                    : look_back(w);
    enter(w, WORTH_GOES_ON);
    forget(&w->with);
    w->window = WINDOW;
    return WORTH_STEER;
}

/* Every round without is one that the program pays for. */
static int can_judge(const struct steering_worth *w, double gain)
{
    double doubt = noise(&w->without, &w->with);

    if (w->without.n >= MOST)
        return 1;
    return w->without.n >= LEAST ? fabs(gain - margin(w)) > doubt
                                 : fabs(gain) > OBVIOUS + doubt;
}

static enum worth_order judge(struct steering_worth *w, double skew)
{
    double over = gain_of(w) - margin(w);

    if (w->without.n == 0 || (w->with.n > 0 && !can_judge(w, gain_of(w))))
        return WORTH_HOLD;
    settle(w);
    if (w->with.n > 0 && over > 0 && !w->is_over) {
        enter(w, WORTH_GOES_ON);
        forget(&w->with);
        w->window = w->window ? w->window : WINDOW;
        return WORTH_RESUME;
    }
    enter(w, WORTH_STOPPED);
    w->skew = skew;
    w->wait = w->wait ? w->wait * 2 : WAIT;
    w->wait = w->wait < WAIT_MOST ? w->wait : WAIT_MOST;
    return WORTH_STOP;
}

/* Does the program something else than before? */
static int is_another(struct steering_worth *w, double seconds)
{
    double mean = w->with.mean;

    if (seconds > 0 && w->with.n >= LEAST)
        w->others = fabs(seconds - mean) > ALIKE * mean ? w->others + 1 : 0;
    return w->others >= OTHERS;
}

/* Without is not known of what it does now. */
static enum worth_order begin_anew(struct steering_worth *w)
{
    w->by_time = fmin(w->by_time, 0);
    settle(w);
    enter(w, WORTH_BEFORE);
    w->others = 0;
    forget(&w->without);
    forget(&w->with);
    return WORTH_PUT_BACK;
}

static enum worth_order go_on(struct steering_worth *w, double gain)
{
    if (costs_much(w))
        return look_back(w);
    if (w->with.n < w->window)
        return WORTH_STEER;
    if (!(gain_of(w) > OBVIOUS) && !follows(w, gain)) { /* may be chance */
        w->window = w->window < WINDOW_MOST ? w->window * 2 : WINDOW_MOST;
        return look_back(w);
    }
    forget(&w->with);
    return WORTH_STEER;
}

static enum worth_order rest(struct steering_worth *w, double skew)
{
    if (w->is_over)
        return WORTH_HOLD;
    if (w->rounds < w->wait && !(skew > APART * w->skew))
        return WORTH_HOLD;
    enter(w, WORTH_BEFORE);
    forget(&w->without);
    forget(&w->with);
    return WORTH_STEER;
}

int steering_worth_promises(const struct steering_worth *w)
{
    return w->promised >= PROMISES;
}

/* What an iteration takes without is known when two rounds in a row say much
 * the same: programs begin with what is not like the rest of them.  In a long
 * first one nothing is waited for, nor where much would be lost by it. */
static enum worth_order begin(struct steering_worth *w,
                              double seconds,
                              double promise)
{
    double before = w->without.mean;

    w->promised = promise > MUCH ? w->promised + 1 : 0;
    if (seconds > 0 && fabs(seconds - before) > ALIKE * before)
        forget(&w->without);
    if (seconds > 0)
        add(&w->without, seconds);
    return w->without.n == 1 && w->rounds < BEGIN_MOST
                   && !steering_worth_promises(w)
               ? WORTH_HOLD
               : WORTH_STEER;
}

enum worth_order steering_worth_next(struct steering_worth *w,
                                     const struct worth_round *round)
{
    double seconds = round->seconds;
    int is_known = isfinite(seconds) && seconds > 0;

    w->rounds++;
    w->elapsed += round->elapsed;
    if (w->phase == WORTH_TRIES || w->phase == WORTH_GOES_ON)
        count_loss(w, round);
    switch (w->phase) {
    case WORTH_BEFORE:
        if (w->is_over)
            return WORTH_HOLD;
        return begin(w, is_known ? seconds : 0, round->promise);
    case WORTH_TRIES:
        w->settled += (unsigned)is_known;
        if (is_known && w->settled > SETTLE)
            add(&w->with, seconds);
        return try(w, round->gain);
    case WORTH_LOOKS_BACK:
        w->settled += (unsigned)is_known;
        if (is_known && w->settled > 1) /* the first began before */
            add(&w->without, seconds);
        return judge(w, round->skew);
    case WORTH_GOES_ON:
        if (is_another(w, is_known ? seconds : 0))
            return begin_anew(w);
        if (is_known)
            add(&w->with, seconds);
        return go_on(w, round->gain);
    case WORTH_STOPPED:
        break;
    }
    return rest(w, round->skew);
}

void steering_worth_stepped(struct steering_worth *w, double moved)
{
    if (w->phase == WORTH_BEFORE && moved >= WORTH_MOVED)
        enter(w, WORTH_TRIES);
}
