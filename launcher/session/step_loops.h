/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_loops.h - the iterations of a step's program, in its front end: what the
 * ranks have found of them (mpi_loops.h), brought together.
 *
 * An iteration counts when all ranks of the program have told of it.  A program
 * may have several loops, one after the other: people are told of the one that
 * took the most time.  The last number is that of all loops for which there was
 * no other, which are no loop together: of these nothing is told.
 */
#ifndef LAUNCHER_SESSION_STEP_LOOPS_H
#define LAUNCHER_SESSION_STEP_LOOPS_H

#include "launcher/wire/protocol.h"
#include "policy/efficiency.h"

#define STEP_LOOPS_PENDING 512u /* iterations of which ranks are missing */
#define STEP_SAMPLE        512u /* of which a median is taken */

struct step_sample {           /* all zero: of nothing */
    double value[STEP_SAMPLE]; /* each `every`-th that was added */
    uint32_t n, every, added;  /* every 0: 1 */
};

struct step_loop {
    double n;       /* iterations */
    double time_ns; /* of all of them */
    double skew_most;
    uint32_t period;
    struct step_sample length, skew;
};

struct step_loops { /* all zero: nothing was told */
    struct step_loop loop[RANKS_LOOPS];
    double weight; /* iterations, of all loops */
    double most;   /* as ranks have counted them */
    struct {
        struct msg_region is; /* ranks 0: none */
        uint64_t stride;
    } pending[STEP_LOOPS_PENDING];
};

/* What people are told: n 0: nothing. */
struct step_iterations {
    double n;
    uint32_t period;              /* regions of each */
    double median_ns;             /* length */
    double skew_ns, skew_most_ns; /* useful time, busiest less least busy rank:
                                     median, and the most */
};

/* A node's message, of a program with so many ranks. */
void step_loops_add(struct step_loops *l, const struct msg_ranks *m);
/* Of iterations that not all ranks have told of, nothing more is waited for. */
void step_loops_forget(struct step_loops *l);
struct step_iterations step_loops_sum(const struct step_loops *l);
/* Where there is no room for more, each second one is kept. */
void step_sample_add(struct step_sample *s, double value);
/* 0 of none. */
double step_sample_median(const struct step_sample *s);

#endif
