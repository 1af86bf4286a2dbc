/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job_load_adjuster.h - seed 1's job load adjuster: from a frame's
 * completion times to the next frame's loads (steps 11 and 12), by the policy.
 * What decides is in policy/; this holds its memory.
 */
#ifndef LAUNCHER_JOB_LOAD_ADJUSTER_H
#define LAUNCHER_JOB_LOAD_ADJUSTER_H

#include "launcher/determination.h"
#include "policy/metric.h"
#include "policy/policy.h"

struct job_load_adjuster {
    const struct policy_kind *kind;
    void *state; /* the policy's */
    struct metric *metric;
    double *load; /* one a node, what the next frame is cut by */
    size_t n;
};

/*
 * metric is n nodes' as they were ranked by the profile, copied; value the
 * policy's parameters.  Fails with ES_ENV if memory ran out.
 */
int job_load_adjuster_init(struct job_load_adjuster *a,
                           const struct policy_kind *kind,
                           const double value[],
                           const struct metric metric[],
                           const struct profile *profile,
                           size_t n,
                           struct es_error *err);
void job_load_adjuster_clear(struct job_load_adjuster *a);
/* After a frame; 1 if the loads have changed, else 0. */
int job_load_adjuster_step(struct job_load_adjuster *a,
                           const struct determination *t);

#endif
