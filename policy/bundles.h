/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bundles.h - what the bundle policies have in common: who is there, which job
 * a node works at, the size of its next bundle, and how such a policy sizes
 * whole slices.
 *
 * Six of them are JPPF's, with its names: manual, nodethreads, proportional, rl,
 * rl2 and autotuned.  They send the very sizes that JPPF 5.2.10 would (package
 * org.jppf.load.balancer), which t/policy/jppf.c compares to the bit.
 *
 * A bundle policy's state begins with struct bundles; its own part lies behind
 * the channels, at bundles_rest().  Slices: a node's load is in proportion to
 * its bundle size, a frame is a job, and what a node did of it is a bundle.
 */
#ifndef POLICY_BUNDLES_H
#define POLICY_BUNDLES_H

#include "policy/policy.h"

#define BUNDLES_MAX_SIZE 300 /* of a channel without a job, as in JPPF */

/* A node; JPPF's word. */
struct channel {
    double load;     /* as published, percent */
    int32_t size;    /* of its next bundle; 0 once it has left */
    int32_t tasks;   /* of the job last dispatched to it */
    int32_t has_job; /* 0: tasks means nothing */
    int32_t is_present;
};

struct bundles {
    size_t n;
    int32_t context_max;
    struct channel channel[]; /* n, then bundles_rest() */
};

/* Bytes of a state whose rest has `fixed` bytes and `each` more a node; 0 if
   that many cannot be. */
size_t bundles_bytes(size_t nodes, size_t fixed, size_t each);

/* All are there, with that size. */
void bundles_init(void *state, size_t nodes, int32_t size);

/* The policy's own part, aligned as by malloc() for doubles. */
void *bundles_rest(void *state);

/* The channel of a node that is there, else NULL. */
struct channel *bundles_channel(void *state, size_t node);

/* A fresh channel, as at the start. */
void bundles_join(void *state, size_t node, int32_t size);

/* maxSize of a channel. */
int32_t bundles_max(const void *state, size_t node);

/*
 * adjust() of policy.h: hear of a frame, as if each node's part of it were a
 * bundle, then publish the loads that follow from the sizes.  In two steps,
 * bundles_frame() returns 1 if a node has left; bundles_publish() with yes = 0
 * keeps the loads, and returns 1 if they have changed.  bundles_frame() calls
 * the policy's set_job(), feedback() and leave().
 */
int bundles_adjust(void *state,
                   const struct policy_bundles *policy,
                   const struct completion c[],
                   int over_threshold,
                   double load[]);
int bundles_frame(void *state,
                  const struct policy_bundles *policy,
                  const struct completion c[]);
int bundles_publish(void *state, int yes, double load[]);

/* loads() of policy.h. */
void bundles_loads(const void *state, double load[]);

/* What struct policy_bundles asks for, where a policy has nothing to add. */
int32_t bundles_size(const void *state, size_t node);
void bundles_set_context(void *state, int32_t tasks);
void bundles_set_job(void *state, size_t node, int32_t tasks, int32_t left);
void bundles_ignore_threads(void *state,
                            size_t node,
                            int32_t threads,
                            int32_t processors);
void bundles_ignore_feedback(void *state,
                             size_t node,
                             int32_t tasks,
                             double time_ns);
void bundles_leave(void *state, size_t node);

/*
 * JPPF's four-argument feedback: a bundle's time from the sum of its tasks'
 * times on a node of so many threads (what is below 1 counts as 1) and the
 * overhead; that of a node with one thread is what JPPF 5.2.2 and later has.
 */
double bundles_time(int32_t tasks,
                    double accumulated_ns,
                    double overhead_ns,
                    int32_t threads);

#endif
