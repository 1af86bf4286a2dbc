/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_loops.h - the iterations of a step's program, in its front end: what the
 * ranks have found of them (mpi_loops.h), brought together.
 *
 * An iteration counts when all ranks of the program have told of it.  A program
 * may have several loops, one after the other: people are told of the one that
 * took the most time.
 */
#ifndef LAUNCHER_SESSION_STEP_LOOPS_H
#define LAUNCHER_SESSION_STEP_LOOPS_H

#include "launcher/wire/protocol.h"
#include "policy/efficiency.h"

#define STEP_LOOPS_PENDING 512u /* iterations of which ranks are missing */
#define STEP_LOOPS_LENGTHS 512u /* of which the median is taken */

struct step_loop {
    double n;       /* iterations */
    double time_ns; /* of all of them */
    double skew, skew_most;
    uint32_t period;
    double length[STEP_LOOPS_LENGTHS]; /* of each `every`-th that was told */
    uint32_t lengths, every, told;     /* every 0: 1 */
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
                                     mean, and the most */
};

/* A node's message, of a program with so many ranks. */
void step_loops_add(struct step_loops *l, const struct msg_ranks *m);
/* Of iterations that not all ranks have told of, nothing more is waited for. */
void step_loops_forget(struct step_loops *l);
struct step_iterations step_loops_sum(const struct step_loops *l);

#endif
