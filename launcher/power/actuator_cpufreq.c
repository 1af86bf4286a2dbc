/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits the frequency of the cores by scaling_max_freq of every policy below
 * <sysfs>/devices/system/cpu/cpufreq (Linux, admin-guide/pm/cpufreq.rst).  Each
 * gets the node's limit, within its own bounds.
 */

#include "launcher/power/actuator_cpufreq.h"

#include <stdio.h>

#define POLICIES_MAX 4096 /* the numbers have gaps, so all are tried */

static int add_policy(struct actuator *a,
                      const struct actuator_place *place,
                      int number,
                      struct es_error *err)
{
    char policy[SYSFS_PATH], path[SYSFS_PATH];
    uint64_t least, most;

    if (sysfs_path(policy, "%s/devices/system/cpu/cpufreq/policy%d",
                   place->sysfs, number)
            < 0
        || sysfs_path(path, "%s/scaling_max_freq", policy) < 0
        || sysfs_read_u64(&least, "%s/cpuinfo_min_freq", policy) < 0
        || sysfs_read_u64(&most, "%s", path) < 0 /* the site's, if it has one */
        || least == 0 || least > most)
        return 0;
    if (most > a->ceiling)
        a->ceiling = most;
    if (a->floor == 0 || least < a->floor)
        a->floor = least;
    return actuator_add(a, path, least, most, err);
}

static int find_policies(struct actuator *a,
                         const struct actuator_place *place,
                         struct es_error *err)
{
    for (int i = 0; i < POLICIES_MAX; i++)
        if (add_policy(a, place, i, err) < 0)
            return -1;
    if (a->n > 0)
        return 0;
    return es_fail(err, ES_ENV, "choose another actuator in power { }",
                   "cpufreq: %s/devices/system/cpu/cpufreq has no policy",
                   place->sysfs);
}

static void format_frequency(const struct actuator *a,
                             const struct knob *knob,
                             uint64_t limit,
                             char text[KNOB_TEXT])
{
    (void)a;
    if (limit < knob->least)
        limit = knob->least;
    if (limit > knob->most)
        limit = knob->most;
    snprintf(text, KNOB_TEXT, "%ju", (uintmax_t)limit);
}

const struct actuator_kind cpufreq_kind = {.name = "cpufreq",
                                           .unit = "kHz",
                                           .is_of_node = 1,
                                           .find = find_policies,
                                           .format = format_frequency};
