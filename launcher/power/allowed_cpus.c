/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/power/allowed_cpus.h"

#include "launcher/base/sysfs.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BITS (8 * (unsigned)sizeof(unsigned long))

int allowed_cpus_read(struct allowed_cpus *cpus, pid_t thread)
{
    memset(cpus, 0, sizeof *cpus);
    return sched_getaffinity(thread, sizeof cpus->bits,
                             (cpu_set_t *)(void *)cpus->bits);
}

int allowed_cpus_take(pid_t from)
{
    struct allowed_cpus cpus;

    if (allowed_cpus_read(&cpus, from) < 0)
        return -1;
    return sched_setaffinity(0, sizeof cpus.bits,
                             (const cpu_set_t *)(const void *)cpus.bits);
}

/* Add some to others.  -1 if a CPU is in both. */
static int allowed_cpus_add(struct allowed_cpus *to,
                            const struct allowed_cpus *more)
{
    int rc = 0;

    for (size_t i = 0; i < sizeof to->bits / sizeof *to->bits; i++) {
        if (to->bits[i] & more->bits[i])
            rc = -1;
        to->bits[i] |= more->bits[i];
    }
    return rc;
}

int allowed_cpus_read_all(struct allowed_cpus *cpus, pid_t process)
{
    int rc = allowed_cpus_read(cpus, process);
    struct allowed_cpus more;
    char path[SYSFS_PATH];
    struct dirent *d;
    DIR *list = NULL;

    if (sysfs_path(path, "/proc/%d/task", (int)process) == 0)
        list = opendir(path);
    while (list && (d = readdir(list)) != NULL)
        if (d->d_name[0] != '.'
            && allowed_cpus_read(&more, (pid_t)atoi(d->d_name)) == 0)
            (void)allowed_cpus_add(cpus, &more); /* most are in both */
    if (list)
        closedir(list);
    return rc;
}

int allowed_cpus_has(const struct allowed_cpus *cpus, unsigned cpu)
{
    return cpu < ALLOWED_CPUS_MAX
           && (cpus->bits[cpu / WORD_BITS] >> cpu % WORD_BITS & 1) != 0;
}

int allowed_cpus_apart(const pid_t thread[], size_t n)
{
    struct allowed_cpus all = {{0}}, cpus;

    for (size_t i = 0; i < n; i++)
        if (allowed_cpus_read(&cpus, thread[i]) < 0
            || allowed_cpus_add(&all, &cpus) < 0)
            return 0;
    return 1;
}

unsigned allowed_cpus_count(const struct allowed_cpus *cpus)
{
    unsigned n = 0;

    for (unsigned i = 0; i < ALLOWED_CPUS_MAX; i++)
        n += (unsigned)allowed_cpus_has(cpus, i);
    return n;
}
