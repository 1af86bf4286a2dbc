/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/tasks.h"

struct tasks tasks_of(uint64_t frame, uint64_t grain)
{
    struct tasks t = {.units = grain};

    while (frame / t.units >= INT32_MAX)
        t.units *= 2;
    t.frame = tasks_in(&t, frame);
    return t;
}

int32_t tasks_in(const struct tasks *t, uint64_t units)
{
    return (int32_t)(units / t->units + (units % t->units != 0));
}

uint64_t tasks_next(const struct tasks *t,
                    const struct policy_bundles *policy,
                    void *state,
                    size_t node,
                    uint64_t left)
{
    int32_t size;

    policy->set_job(state, node, t->frame, tasks_in(t, left));
    size = policy->size(state, node);
    if (size < 1)
        size = 1;
    return (uint64_t)size > left / t->units ? left : (uint64_t)size * t->units;
}
