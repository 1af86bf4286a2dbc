/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits the power of the CPU packages by <sysfs>/class/powercap/intel-rapl:N,
 * whose constraint 0 is the long-term one (Linux, power/powercap/powercap.rst).
 * The node's limit is divided over the packages in proportion to their maxima.
 */

#include "launcher/power/actuator_rapl.h"

#include <stdio.h>

#define PACKAGES_MAX 64 /* the largest machines have 32 sockets */

static int add_package(struct actuator *a,
                       const struct actuator_place *place,
                       int number,
                       struct es_error *err)
{
    char zone[SYSFS_PATH], path[SYSFS_PATH];
    uint64_t most;

    if (sysfs_path(zone, "%s/class/powercap/intel-rapl:%d", place->sysfs,
                   number)
            < 0
        || sysfs_path(path, "%s/constraint_0_power_limit_uw", zone) < 0)
        return 0;
    /* The limit that the site has set is the most; the package's own maximum
     * is used where there is none. */
    if (sysfs_read_u64(&most, "%s", path) < 0 || most == 0)
        if (sysfs_read_u64(&most, "%s/constraint_0_max_power_uw", zone) < 0
            || most == 0)
            return 0;
    a->ceiling += most;
    return actuator_add(a, path, 1, most, err);
}

static int find_packages(struct actuator *a,
                         const struct actuator_place *place,
                         struct es_error *err)
{
    for (int i = 0; i < PACKAGES_MAX; i++)
        if (add_package(a, place, i, err) < 0)
            return -1;
    if (a->n > 0)
        return 0;
    return es_fail(err, ES_ENV, "choose another actuator in power { }",
                   "rapl: %s/class/powercap has no intel-rapl", place->sysfs);
}

static void format_power(const struct actuator *a,
                         const struct knob *knob,
                         uint64_t limit,
                         char text[KNOB_TEXT])
{
    /* Rounded down, so that the sum never exceeds the limit. */
    double share = (double)knob->most / (double)a->ceiling;

    snprintf(text, KNOB_TEXT, "%ju",
             (uintmax_t)(uint64_t)((double)limit * share));
}

const struct actuator_kind rapl_kind = {.name = "rapl",
                                        .unit = "uW",
                                        .is_of_node = 1,
                                        .find = find_packages,
                                        .format = format_power};
