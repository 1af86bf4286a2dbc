/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/power/thread_advice.h"

#include <sched.h>

static uint32_t part(double share, uint32_t of)
{
    uint32_t v = (uint32_t)(share * of);

    return v < 1 ? 1 : v < of ? v : of;
}

void thread_advice_init(struct thread_advice *a, double start, double lowest)
{
    cpu_set_t cpus;

    a->ceiling = 1;
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) > 0)
        a->ceiling = (uint32_t)CPU_COUNT(&cpus);
    a->floor = part(lowest, a->ceiling);
    a->limit = part(start, a->ceiling);
    if (a->limit < a->floor)
        a->limit = a->floor;
}

uint32_t thread_advice_set(struct thread_advice *a, uint64_t limit)
{
    if (limit >= a->floor && limit <= a->ceiling)
        a->limit = (uint32_t)limit;
    return a->limit;
}
