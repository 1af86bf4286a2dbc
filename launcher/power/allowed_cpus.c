/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/power/allowed_cpus.h"

#include <sched.h>
#include <string.h>

#define WORD_BITS (8 * (unsigned)sizeof(unsigned long))

int allowed_cpus_read(struct allowed_cpus *cpus, pid_t task)
{
    memset(cpus, 0, sizeof *cpus);
    return sched_getaffinity(task, sizeof cpus->bits,
                             (cpu_set_t *)(void *)cpus->bits);
}

int allowed_cpus_has(const struct allowed_cpus *cpus, unsigned cpu)
{
    return cpu < ALLOWED_CPUS_MAX
           && (cpus->bits[cpu / WORD_BITS] >> cpu % WORD_BITS & 1) != 0;
}

unsigned allowed_cpus_count(const struct allowed_cpus *cpus)
{
    unsigned n = 0;

    for (unsigned i = 0; i < ALLOWED_CPUS_MAX; i++)
        n += (unsigned)allowed_cpus_has(cpus, i);
    return n;
}
