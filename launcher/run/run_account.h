/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_account.h - what a run is held against: the ideal by what its pieces cost
 * (policy/cost.h), and where the rest of the time went (policy/account.h).
 *
 * The frames of a run add up, and what lies between them is waiting, but for a
 * queue's, which may have had nothing.  With frames ahead of the first they
 * overlap: then a frame's time is that since the end of the one before, where the
 * rest went is not told of it, and the run has an account of its own, but for equal
 * parts: those would be done frame by frame all the same.
 */
#ifndef LAUNCHER_RUN_RUN_ACCOUNT_H
#define LAUNCHER_RUN_RUN_ACCOUNT_H

#include "policy/account.h"
#include "policy/dispatch.h"

struct run_account {
    size_t n;                /* nodes, or slots of nodes */
    const struct cost *cost; /* the caller's, of the last frame */
    struct account *frame;
    struct account *whole;           /* of the run; NULL: its frames add up */
    double *speed, *part;            /* one a node; workspace */
    char *counts;                    /* likewise: in a frame so far */
    uint64_t frames;                 /* so far */
    double ended;                    /* when the last so far has */
    double open;                     /* seconds with a frame at work */
    double command_s, cpu_s;         /* of commands whose CPU time is known */
    struct account_result last, sum; /* of the last frame, of all */
};

/* cost: what pieces cost, as the dispatchers learn it; must outlive a.  ahead:
 * do frames overlap?  0, or -1 if memory ran out. */
int run_account_begin(struct run_account *a,
                      size_t n,
                      const struct cost *cost,
                      int ahead);
/* {0} is allowed. */
void run_account_clear(struct run_account *a);
/* A frame is over: none of its pieces is out; it began so many seconds after the run, and
 * took so many.  Then a->last is its account. */
void run_account_frame(struct run_account *a,
                       const struct dispatch *d,
                       double began,
                       double seconds);
/* Of the run, that took so many seconds so far; 0: as many as a frame was at work,
 * each second once. */
struct account_result run_account_sum(struct run_account *a, double seconds);
/* Have the commands, each for itself, used about one CPU, and long enough for that
 * to matter? */
int run_account_used_one_cpu(const struct run_account *a);
/* What a command takes to start at a node, by the costs. */
double run_account_start(const struct run_account *a, size_t node);

#endif
