/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/power/whole_node.h"
#include "launcher/base/sysfs.h"

#include <stdio.h>

#define CPUS_MAX 8192 /* NR_CPUS of the kernels that distributions ship */

/* Cores in a list of ranges; 0 if it is none. */
static unsigned count_list(const char *list)
{
    unsigned n = 0, first, last;
    int end;

    for (;; list += end) {
        if (sscanf(list, "%5u%n", &first, &end) != 1 || first >= CPUS_MAX)
            return 0;
        list += end;
        last = first;
        end = 0;
        if (list[0] == '-'
            && (sscanf(list, "-%5u%n", &last, &end) != 1 || last < first
                || last >= CPUS_MAX))
            return 0;
        list += end;
        n += last - first + 1;
        if (!*list)
            return n;
        end = 1;
        if (*list != ',')
            return 0;
    }
}

/* Count each core by the first of its threads. */
static unsigned count_cores(const char *sysfs)
{
    unsigned n = 0;

    for (unsigned i = 0; i < CPUS_MAX; i++) {
        uint64_t first;

        n += sysfs_read_u64(&first,
                            "%s/devices/system/cpu/cpu%u/topology/"
                            "thread_siblings_list",
                            sysfs, i)
                 == 0
             && first == i;
    }
    return n;
}

int whole_node_check(const char *sysfs, const char *cores, struct es_error *err)
{
    unsigned there = count_cores(sysfs), has = cores ? count_list(cores) : 0;

    if (there > 0 && has >= there)
        return 0;
    if (there == 0 || has == 0)
        return es_fail(err, ES_ENV, "choose another actuator in power { }",
                       "cannot find out if other jobs are on this node");
    return es_fail(err, ES_ENV,
                   "give the job whole nodes by --exclusive, or choose another "
                   "actuator in power { }",
                   "other jobs may be on this node, of whose %u cores this one "
                   "has %u",
                   there, has);
}
