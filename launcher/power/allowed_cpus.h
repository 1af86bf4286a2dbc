/* SPDX-License-Identifier: BSD-2-Clause */
/* allowed_cpus.h - the CPUs on which a task, or a thread, may run. */
#ifndef LAUNCHER_POWER_ALLOWED_CPUS_H
#define LAUNCHER_POWER_ALLOWED_CPUS_H

#include <stddef.h>
#include <sys/types.h>

#define ALLOWED_CPUS_MAX                                                       \
    8192 /* NR_CPUS of the kernels that distributions ship */

struct allowed_cpus {
    unsigned long bits[ALLOWED_CPUS_MAX / (8 * sizeof(unsigned long))];
};

/* Of one thread.  0, or -1 with errno: it may have ended. */
int allowed_cpus_read(struct allowed_cpus *cpus, pid_t thread);
/* Let this thread run where another may.  0, or -1 with errno. */
int allowed_cpus_take(pid_t from);
/* Of all threads of a process; runtimes pin each to some of them. */
int allowed_cpus_read_all(struct allowed_cpus *cpus, pid_t process);
int allowed_cpus_has(const struct allowed_cpus *cpus, unsigned cpu);
/* Is each of n threads pinned to CPUs that no other of them may use? */
int allowed_cpus_apart(const pid_t thread[], size_t n);
unsigned allowed_cpus_count(const struct allowed_cpus *cpus);

#endif
