/* SPDX-License-Identifier: BSD-2-Clause */
/* allowed_cpus.h - the CPUs on which a task may run. */
#ifndef LAUNCHER_POWER_ALLOWED_CPUS_H
#define LAUNCHER_POWER_ALLOWED_CPUS_H

#include <sys/types.h>

#define ALLOWED_CPUS_MAX                                                       \
    8192 /* NR_CPUS of the kernels that distributions ship */

struct allowed_cpus {
    unsigned long bits[ALLOWED_CPUS_MAX / (8 * sizeof(unsigned long))];
};

/* 0, or -1 with errno: the task may have ended. */
int allowed_cpus_read(struct allowed_cpus *cpus, pid_t task);
int allowed_cpus_has(const struct allowed_cpus *cpus, unsigned cpu);
unsigned allowed_cpus_count(const struct allowed_cpus *cpus);

#endif
