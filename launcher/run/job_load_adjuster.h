/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job_load_adjuster.h - the job load adjuster: from a frame's
 * completion times to the next frame's loads (steps 11 and 12), by the policy.
 * What decides is in policy/; this holds its memory.  Of bundles and of nodes that
 * leave the dispatcher tells the policy.
 */
#ifndef LAUNCHER_RUN_JOB_LOAD_ADJUSTER_H
#define LAUNCHER_RUN_JOB_LOAD_ADJUSTER_H

#include "pmix_bcast/error.h"
#include "policy/determination.h"
#include "policy/metric.h"
#include "policy/policy.h"

struct job_load_adjuster {
    const struct policy_kind *kind;
    void *state; /* the policy's */
    struct metric *metric;
    double *load; /* one a node, what the next frame is cut by */
    size_t n;
    const double *value; /* the caller's */
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
/* So many threads may work on a node; 0: not known. */
void job_load_adjuster_threads(struct job_load_adjuster *a,
                               size_t node,
                               uint32_t cpus);
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
