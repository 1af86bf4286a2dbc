/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_account.h - what a run is held against: its costs, learned from the
 * pieces that have come back (policy/cost.h), the ideal by these, and where the
 * rest of the time went (policy/account.h).
 *
 * The frames of a run add up, and what lies between them is waiting.  With
 * frames ahead of the first they overlap: then a frame's time is that since the
 * end of the one before, where the rest went is not told of it, and the run has
 * an account of its own.
 */
#ifndef LAUNCHER_RUN_RUN_ACCOUNT_H
#define LAUNCHER_RUN_RUN_ACCOUNT_H

#include "policy/account.h"
#include "policy/dispatch.h"

struct run_account {
    size_t n; /* nodes */
    struct cost *cost;
    struct account *frame;
    struct account *whole; /* of the run; NULL: its frames add up */
    double *speed;         /* one a node; workspace */
    uint64_t frames;       /* so far */
    double fitted, ended;  /* when the costs were, and the frame before */
    struct account_result last, sum; /* of the last frame, of all */
};

/* load: what the nodes are believed to do, one each, in any unit.  ahead: do
 * frames overlap?  0, or -1 if memory ran out. */
int run_account_begin(struct run_account *a,
                      size_t n,
                      const double load[],
                      int ahead);
/* {0} is allowed. */
void run_account_clear(struct run_account *a);
/* A frame is done: all its pieces; it began so many seconds after the run, and
 * took so many.  Then a->last is its account. */
void run_account_frame(struct run_account *a,
                       const struct dispatch *d,
                       double began,
                       double seconds);
/* Of the run, that took so many seconds so far. */
struct account_result run_account_sum(const struct run_account *a,
                                      double seconds);
/* What a command takes to start at a node, by the costs. */
double run_account_start(const struct run_account *a, size_t node);

#endif
