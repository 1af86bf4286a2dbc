/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits the frequency of the cores by scaling_max_freq of every policy below
 * <sysfs>/devices/system/cpu/cpufreq (Linux, admin-guide/pm/cpufreq.rst).  Each
 * gets the node's limit, within its own bounds, until it is told what the cores
 * of each task are to have.
 */

#include "launcher/power/actuator_cpufreq.h"

#include "launcher/power/allowed_cpus.h"

#include <stdio.h>
#include <string.h>

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

static void format_core(const struct actuator *a,
                        const struct knob *knob,
                        uint64_t limit,
                        char text[KNOB_TEXT])
{
    format_frequency(a, knob, limit / a->parts.part[knob->part].count, text);
}

/* Is any CPU of the policy one of these?  "0 1", in affected_cpus. */
static int has_cpu_of(const struct knob *knob, const struct allowed_cpus *cpus)
{
    int policy_len = (int)(strrchr(knob->path, '/') - knob->path);
    char line[SYSFS_LINE];
    const char *at = line;
    unsigned cpu;
    int end = 0;

    if (sysfs_read(line, "%.*s/affected_cpus", policy_len, knob->path) < 0)
        return 0;
    for (; sscanf(at, "%5u%n", &cpu, &end) == 1; at += end)
        if (allowed_cpus_has(cpus, cpu))
            return 1;
    return 0;
}

/* The part in which a task's policies are, as those of tasks that share cores
 * are; a new one if they are in none; PART_NONE if they are in several. */
static uint32_t find_part(const struct actuator *a,
                          const struct allowed_cpus *cpus)
{
    uint32_t part = PART_NONE;

    for (size_t i = 0; i < a->own; i++) {
        uint32_t other = a->knob[i].part;

        if (other == PART_NONE || other == part
            || !has_cpu_of(&a->knob[i], cpus))
            continue;
        if (part != PART_NONE)
            return PART_NONE;
        part = other;
    }
    if (part == PART_NONE && a->parts.n < PARTS_MAX)
        part = (uint32_t)a->parts.n;
    return part;
}

static uint32_t part_of_task(struct actuator *a,
                             const struct allowed_cpus *cpus)
{
    uint32_t part = find_part(a, cpus);
    int has_any = 0;

    for (size_t i = 0; i < a->own && part != PART_NONE; i++)
        if (has_cpu_of(&a->knob[i], cpus)) {
            a->knob[i].part = part;
            has_any = 1;
        }
    if (!has_any)
        return PART_NONE;
    if (part == a->parts.n)
        a->parts.n++;
    return part;
}

static void measure_part(struct actuator *a, uint32_t number)
{
    struct power_part *part = &a->parts.part[number];
    uint64_t least = 1;

    *part = (struct power_part){0};
    for (size_t i = 0; i < a->own; i++) {
        if (a->knob[i].part != number)
            continue;
        part->count++;
        part->most += a->knob[i].most;
        if (a->knob[i].least > least)
            least = a->knob[i].least;
    }
    part->least = least * part->count; /* none of them is below its own then */
    if (part->least > part->most)
        part->least = part->most;
}

/* Are all of these cores parts already, of threads? */
static int is_covered(const struct actuator *a, const struct allowed_cpus *cpus)
{
    for (size_t i = 0; i < a->own; i++)
        if (a->knob[i].part == PART_NONE && has_cpu_of(&a->knob[i], cpus))
            return 0;
    return 1;
}

/* -1: its cores are no part. */
static int add_run(struct actuator *a,
                   pid_t pid,
                   const struct allowed_cpus *cpus)
{
    uint32_t part = part_of_task(a, cpus);

    if (part == PART_NONE)
        return -1;
    actuator_add_run(a, pid, part);
    return 0;
}

static int add_thread(struct actuator *a, pid_t tid)
{
    struct allowed_cpus cpus;

    return allowed_cpus_read(&cpus, tid) < 0 ? -1 : add_run(a, tid, &cpus);
}

/* A task whose cores are those of its threads, or, as of a shell that has
 * started the program, of another's, has nothing to itself. */
static int add_task(struct actuator *a, pid_t pid, int has_threads)
{
    struct allowed_cpus cpus;

    if (allowed_cpus_read_all(&cpus, pid) < 0)
        return -1;
    return has_threads && is_covered(a, &cpus) ? 0 : add_run(a, pid, &cpus);
}

static int divide_cores(struct actuator *a,
                        const struct actuator_place *place,
                        const struct actuator_runs *runs,
                        struct es_error *err)
{
    int rc = 0;

    (void)place;
    (void)err;
    for (size_t i = 0; i < runs->threads && rc == 0; i++)
        rc = add_thread(a, runs->thread[i]);
    for (size_t i = 0; i < runs->tasks && rc == 0; i++)
        rc = add_task(a, runs->task[i], runs->threads > 0);
    if (rc < 0)
        a->parts.n = 0;
    for (uint32_t i = 0; i < a->parts.n; i++)
        measure_part(a, i);
    return 0;
}

const struct actuator_kind cpufreq_kind = {.name = "cpufreq",
                                           .unit = "kHz",
                                           .per_cap = 1e3,
                                           .is_of_node = 1,
                                           .find = find_policies,
                                           .format = format_frequency,
                                           .format_part = format_core,
                                           .divide = divide_cores};
