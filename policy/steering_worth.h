/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steering_worth.h - whether steering helps the program that is steered.
 *
 * Pure.  It is told how long an iteration of the program takes in each round,
 * how nodes follow their limits (power_response.h), and what limits have moved:
 *
 *  1. Before the first limit has moved by more than a hair: how long an
 *     iteration takes without, in two rounds.  Where two rounds promise much,
 *     nothing more is waited for.
 *  2. After some rounds of steering: how long it takes with it.  Clearly less,
 *     beyond the noise of both: it goes on, and is looked at again and again
 *     (what seems to be much, and to save, what seems to cost nothing, is given
 *     more rounds to become clear);
 *     if it is little by then, as in 3, ever more seldom.  It goes on, too,
 *     where the slowest node is seen to have become much faster by its limit,
 *     unless iterations have clearly become longer.
 *  3. Else what was tried is put back, and it is seen how long an iteration
 *     takes then: the program may have changed.  If that is longer by more than
 *     the margin and half of the noise, what was tried is taken up again.
 *  4. Else steering stops.  It is tried again when the nodes are much further
 *     apart than they were then, or after some time, twice as long each time.
 *
 * What saves power need not make iterations shorter, but not longer, either.
 *
 * A step must not end more than WORTH_HARM later than without.  So there is an
 * account of the time that was lost: by the nodes' paces (power_loss()) and by
 * iterations, whichever is more.  Where half of what may be lost is, it is looked
 * back at once; where most of it is, steering stops for good.  And no limit is so
 * low that it could cost what is left before anything is seen of it: when other
 * nodes come last than before (steering_worth_depth()).
 *
 * Where iterations that are steered take another time than before, in two rounds
 * in a row, the program does something else: all limits go, and it begins anew.
 *
 * The noise is two standard errors of the difference of the means.  A time of
 * more than one and a half medians counts as that: others on the machine make
 * some very long.
 */
#ifndef POLICY_STEERING_WORTH_H
#define POLICY_STEERING_WORTH_H

#define WORTH_MARGIN 0.01 /* less than that is no help */
#define WORTH_MOVED  0.01 /* of all limits together: something was tried */
#define WORTH_KEPT   16   /* times */
#define WORTH_HARM   0.02 /* of the step's time, at most */

enum worth_order {
    WORTH_STEER,    /* take the step */
    WORTH_HOLD,     /* leave all limits as they are */
    WORTH_PUT_BACK, /* remember the limits, then put them back to the start */
    WORTH_RESUME,   /* set those that were remembered */
    WORTH_STOP,     /* it did not help: what was put back remains */
};

struct worth_times { /* of an iteration, in rounds */
    unsigned n;
    double last[WORTH_KEPT]; /* of time i at i % KEPT; and of these: */
    double mean, squares;    /* of the deviations */
};

struct worth_round {
    double seconds; /* that an iteration took; 0: not known */
    double skew;    /* how far the nodes are apart */
    double promise; /* power_promise(); 0: not known */
    double gain;    /* power_response_gain(); 0: not known */
    double elapsed; /* seconds; 0: there is no account */
    double loss;    /* power_loss(): part of these */
};

struct steering_worth { /* all zero at the start */
    enum worth_phase {
        WORTH_BEFORE,
        WORTH_TRIES,
        WORTH_LOOKS_BACK,
        WORTH_GOES_ON,
        WORTH_STOPPED
    } phase;
    unsigned rounds;   /* of this phase */
    unsigned settled;  /* of these, in which iterations ended */
    unsigned window;   /* rounds until it is looked at again */
    unsigned wait;     /* rounds until it is tried again */
    unsigned promised; /* rounds, the last ones, that promise much */
    unsigned others;   /* rounds, the last ones, with other times */
    double skew;       /* when it stopped */
    int saves;         /* set by the caller: it is to save power */
    int is_over;       /* too much was lost */
    double elapsed;    /* seconds, in all */
    double lost;       /* of these, as far as it is settled; < 0: gained */
    double by_pace, by_time, open; /* since then: lost; and seconds */
    struct worth_times without, with;
};

/* A round has ended. */
enum worth_order steering_worth_next(struct steering_worth *w,
                                     const struct worth_round *round);
/* Forget all but the account. */
void steering_worth_again(struct steering_worth *w);
/* The part of its limit without that a node must keep, if others may come last for
 * so many seconds before that is seen, and progress goes with at most this power of
 * the limit; 0..1. */
double steering_worth_depth(const struct steering_worth *w,
                            double seconds,
                            double exponent);
/* Is it so much, in the last rounds, that it begins at once? */
int steering_worth_promises(const struct steering_worth *w);
/* The step was taken; of all limits this part is elsewhere than at the start. */
void steering_worth_stepped(struct steering_worth *w, double moved);

#endif
