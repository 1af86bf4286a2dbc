/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job_load_adjuster.h - seed 1's job load adjuster: from a frame's
 * completion times to the next frame's loads (steps 11 and 12), by the policy.
 * What decides is in policy/; this holds its memory.
 */
#ifndef LAUNCHER_RUN_JOB_LOAD_ADJUSTER_H
#define LAUNCHER_RUN_JOB_LOAD_ADJUSTER_H

#include "launcher/run/determination.h"
#include "policy/metric.h"
#include "policy/policy.h"
#include "policy/tasks.h"

struct job_load_adjuster {
    const struct policy_kind *kind;
    void *state; /* the policy's */
    struct metric *metric;
    double *load; /* one a node, what the next frame is cut by */
    size_t n;
    const double *value; /* the caller's */
    struct tasks tasks;  /* of the frame, for bundles */
};

/*
 * metric is n nodes' as they were ranked by the profile, copied; value the
 * policy's parameters, which must outlive it.  Fails with ES_ENV if memory ran
 * out.
 */
int job_load_adjuster_init(struct job_load_adjuster *a,
                           const struct policy_kind *kind,
                           const double value[],
                           const struct metric metric[],
                           const struct profile *profile,
                           size_t n,
                           struct es_error *err);
void job_load_adjuster_clear(struct job_load_adjuster *a);
/* After a frame; 1 if the loads have changed, else 0.  A bundle policy has
 * heard of it before. */
int job_load_adjuster_step(struct job_load_adjuster *a,
                           const struct determination *t);
/* A frame of so many units begins, whose slices are in grains. */
void job_load_adjuster_begin(struct job_load_adjuster *a,
                             uint64_t frame,
                             uint64_t grain);
/* Units that a bundle policy sends a node next, if so many of the frame are
 * left: 1 to left.  kind->bundles is not NULL. */
uint64_t job_load_adjuster_bundle(struct job_load_adjuster *a,
                                  size_t node,
                                  uint64_t left);
/* A piece is back after time_ns; nothing if the policy is one of sizes. */
void job_load_adjuster_hear(struct job_load_adjuster *a,
                            size_t node,
                            uint64_t units,
                            int64_t time_ns);
/* So many threads may work on a node; 0: not known. */
void job_load_adjuster_threads(struct job_load_adjuster *a,
                               size_t node,
                               uint32_t cpus);
/* A node is lost; a size policy hears of it with the frame. */
void job_load_adjuster_leave(struct job_load_adjuster *a, size_t node);
/*
 * A node that was lost is back and has been measured anew; metric[] ranks all
 * nodes with that.  A size policy starts again from the loads that it has
 * found, with the node's own in proportion to its measurement.
 */
int job_load_adjuster_join(struct job_load_adjuster *a,
                           size_t node,
                           const struct metric metric[],
                           struct es_error *err);

#endif
