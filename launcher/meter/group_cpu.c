/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/meter/group_cpu.h"
#include "launcher/base/sysfs.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Clock ticks that a process has used; 0 if it is not of the group.  See
 * /proc/[pid]/stat in proc(5): the second field is a name, which may contain
 * blanks and brackets. */
static unsigned long long ticks_of(const char *stat, pid_t group)
{
    const char *rest = strrchr(stat, ')');
    unsigned long long own, system;
    long long waited, waited_system;
    int pgrp;

    if (!rest
        || sscanf(rest + 1,
                  " %*c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld "
                  "%lld",
                  &pgrp, &own, &system, &waited, &waited_system)
               != 5
        || pgrp != group)
        return 0;
    return own + system + (unsigned long long)(waited > 0 ? waited : 0)
           + (unsigned long long)(waited_system > 0 ? waited_system : 0);
}

double group_cpu_seconds(const char *proc, pid_t group)
{
    unsigned long long ticks = 0;
    char line[SYSFS_LINE];
    DIR *all = opendir(proc);
    struct dirent *d;

    while (all && (d = readdir(all)) != NULL)
        if (d->d_name[0] >= '1' && d->d_name[0] <= '9'
            && sysfs_read(line, "%s/%s/stat", proc, d->d_name) == 0)
            ticks += ticks_of(line, group);
    if (all)
        (void)closedir(all);
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}
