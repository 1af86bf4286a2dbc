/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits the power of the CPU packages by <sysfs>/class/powercap/intel-rapl:N,
 * whose constraint 0 is the long-term one (Linux, power/powercap/powercap.rst).
 * The node's limit is divided over the packages in proportion to their maxima,
 * until it is told what each is to have.
 */

#include "launcher/power/actuator_rapl.h"

#include "launcher/power/allowed_cpus.h"

#include <stdio.h>
#include <string.h>

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

static void format_package(const struct actuator *a,
                           const struct knob *knob,
                           uint64_t limit,
                           char text[KNOB_TEXT])
{
    (void)a;
    (void)knob;
    snprintf(text, KNOB_TEXT, "%ju", (uintmax_t)limit);
}

/* The package of a knob, as the zone's name says: "package-1". */
static uint64_t package_of(const struct knob *knob)
{
    int zone_len = (int)(strrchr(knob->path, '/') - knob->path);
    char line[SYSFS_LINE];
    unsigned package;
    int end = 0;

    if (sysfs_read(line, "%.*s/name", zone_len, knob->path) == 0
        && sscanf(line, "package-%5u%n", &package, &end) == 1 && !line[end])
        return package;
    return UINT64_MAX;
}

/* Whose CPUs are all in one package; PART_NONE if they are in several. */
static uint32_t part_of_task(const struct actuator *a,
                             const struct actuator_place *place,
                             const struct allowed_cpus *cpus)
{
    uint64_t package = UINT64_MAX, other;

    for (unsigned i = 0; i < ALLOWED_CPUS_MAX; i++) {
        if (!allowed_cpus_has(cpus, i))
            continue;
        if (sysfs_read_u64(
                &other,
                "%s/devices/system/cpu/cpu%u/topology/physical_package_id",
                place->sysfs, i)
                < 0
            || (package != UINT64_MAX && package != other))
            return PART_NONE;
        package = other;
    }
    for (uint32_t i = 0; i < a->own && package != UINT64_MAX; i++)
        if (package_of(&a->knob[i]) == package)
            return i;
    return PART_NONE;
}

static void add_runs(struct actuator *a,
                     const struct actuator_place *place,
                     const pid_t pid[],
                     size_t n,
                     int (*read)(struct allowed_cpus *cpus, pid_t pid))
{
    for (size_t i = 0; i < n; i++) {
        struct allowed_cpus cpus;
        uint32_t part = PART_NONE;

        if (read(&cpus, pid[i]) == 0)
            part = part_of_task(a, place, &cpus);
        if (part != PART_NONE)
            actuator_add_run(a, pid[i], part);
    }
}

/* Every package is a part; tasks, or threads, that run on several count for none. */
static int divide_packages(struct actuator *a,
                           const struct actuator_place *place,
                           const struct actuator_runs *runs,
                           struct es_error *err)
{
    (void)err;
    add_runs(a, place, runs->thread, runs->threads, allowed_cpus_read);
    add_runs(a, place, runs->task, runs->tasks, allowed_cpus_read_all);
    for (uint32_t i = 0; i < a->own; i++) {
        a->parts.part[i] =
            (struct power_part){a->knob[i].least, a->knob[i].most, 0};
        a->knob[i].part = i;
    }
    a->parts.n = a->own;
    return 0;
}

const struct actuator_kind rapl_kind = {.name = "rapl",
                                        .unit = "uW",
                                        .per_cap = 1e6,
                                        .is_of_node = 1,
                                        .find = find_packages,
                                        .format = format_power,
                                        .format_part = format_package,
                                        .divide = divide_packages};
