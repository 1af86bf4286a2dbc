/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tasks.h - a frame's units as tasks, in which bundle policies count.
 *
 * A task is one grain.  A bundle policy's numbers are 32 bits wide, as JPPF's
 * are: of a frame with more grains, a task is 2^k of them.
 */
#ifndef POLICY_TASKS_H
#define POLICY_TASKS_H

#include "policy/policy.h"

struct tasks {
    uint64_t units; /* of one task */
    int32_t frame;  /* tasks of the whole frame */
};

/* Of a frame of so many units; grain >= 1. */
struct tasks tasks_of(uint64_t frame, uint64_t grain);

/* Tasks that so many units of the frame are, the last one perhaps in part. */
int32_t tasks_in(const struct tasks *t, uint64_t units);

/* Units that a policy sends a node next, if so many are left to be sent:
   1 to left, or 0 if left is 0. */
uint64_t tasks_next(const struct tasks *t,
                    const struct policy_bundles *policy,
                    void *state,
                    size_t node,
                    uint64_t left);

#endif
