/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/power/actuator.h"
#include "launcher/power/actuator_cgroup.h"
#include "launcher/power/actuator_cpufreq.h"
#include "launcher/power/actuator_rapl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct actuator_kind *const kinds[] = {&rapl_kind, &cpufreq_kind,
                                                    &cgroup_kind};

const struct actuator_kind *actuator_find(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    return NULL;
}

static uint64_t part_of(double share, uint64_t of)
{
    uint64_t v = (uint64_t)(share * (double)of);

    return v < of ? v : of;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Not below what the kernel allows. */
static uint64_t capped(const struct actuator *a, double cap)
{
    double limit = cap * a->kind->per_cap;

    if (!(cap > 0) || limit >= (double)a->ceiling)
        return a->ceiling;
    if (a->kind->per_cap > 0)
        return larger(a->lowest, (uint64_t)limit);
    return larger(a->lowest, part_of(cap, a->ceiling));
}

int actuator_open(struct actuator *a,
                  const struct actuator_kind *kind,
                  const struct actuator_place *place,
                  double cap,
                  double lowest,
                  struct es_error *err)
{
    memset(a, 0, sizeof *a);
    a->kind = kind;
    if (kind->find(a, place, err) < 0) {
        actuator_close(a);
        return -1;
    }
    a->own = a->n;
    a->lowest = larger(1, a->floor);
    a->floor = larger(a->lowest, part_of(lowest, a->ceiling));
    a->ceiling = larger(a->floor, a->ceiling);
    a->limit = capped(a, cap);
    if (a->limit < a->floor)
        a->floor = a->limit;
    return 0;
}

static int unwritable(const struct knob *knob, struct es_error *err)
{
    return es_fail(err, ES_ENV, "see that evenstep-power may write it",
                   "%s: %s", knob->path, strerror(errno));
}

int actuator_check(const struct actuator *a, struct es_error *err)
{
    for (size_t i = 0; i < a->n; i++) {
        int fd = open(a->knob[i].path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

        if (fd < 0)
            return unwritable(&a->knob[i], err);
        close(fd);
    }
    return 0;
}

/* What a knob is to have, under a->limit and the limits of the parts. */
static void format_knob(const struct actuator *a,
                        const struct knob *knob,
                        char text[KNOB_TEXT])
{
    int is_part = knob->part != PART_NONE;

    if (a->kind->is_nested && is_part != a->is_divided
        && knob->least < knob->most)
        memcpy(text, knob->found, KNOB_TEXT);
    else if (is_part && a->is_divided)
        a->kind->format_part(a, knob, a->part_limit[knob->part], text);
    else if (a->limit == a->ceiling)
        memcpy(text, knob->found, KNOB_TEXT);
    else
        a->kind->format(a, knob, a->limit, text);
}

/* No number ("max", "-1") is no limit. */
static uint64_t number_in(const char *text)
{
    return *text >= '0' && *text <= '9' ? strtoull(text, NULL, 10) : UINT64_MAX;
}

/* Parts go down first, then the node is set, then parts go up. */
enum { PASSES = 3 };

static int pass_of(const struct knob *knob, const char *text)
{
    if (knob->part == PART_NONE)
        return 1;
    return number_in(text) < number_in(knob->now) ? 0 : 2;
}

static int write_pass(struct actuator *a, int pass, struct es_error *err)
{
    char text[KNOB_TEXT];

    for (size_t i = 0; i < a->n; i++) {
        struct knob *knob = &a->knob[i];

        format_knob(a, knob, text);
        if (pass_of(knob, text) != pass || strcmp(text, knob->now) == 0)
            continue;
        if (actuator_write(knob->path, text) == 0)
            memcpy(knob->now, text, KNOB_TEXT);
        else if (errno != ENOENT || !a->kind->is_nested || !a->is_divided)
            return unwritable(knob, err); /* else the task has ended */
    }
    return 0;
}

static int write_all(struct actuator *a, struct es_error *err)
{
    for (int pass = 0; pass < PASSES; pass++)
        if (write_pass(a, pass, err) < 0)
            return -1;
    return 0;
}

static void write_found(struct actuator *a)
{
    for (size_t i = 0; i < a->n; i++) {
        (void)actuator_write(a->knob[i].path, a->knob[i].found);
        memcpy(a->knob[i].now, a->knob[i].found, KNOB_TEXT);
    }
}

static int check_limit(const struct actuator *a,
                       uint64_t limit,
                       struct es_error *err)
{
    if (limit >= a->floor && limit <= a->ceiling)
        return 0;
    return es_fail(err, ES_USAGE, "give a limit within its bounds",
                   "%s: %ju is not between %ju and %ju", a->kind->name,
                   (uintmax_t)limit, (uintmax_t)a->floor,
                   (uintmax_t)a->ceiling);
}

/* Of the node, and of the parts unless part is NULL.  What was in force before
 * is set back on failure. */
static int set_all(struct actuator *a,
                   uint64_t limit,
                   const uint64_t part[],
                   struct es_error *err)
{
    const uint64_t was = a->limit;
    const int was_divided = a->is_divided;
    uint64_t parts_were[PARTS_MAX];

    memcpy(parts_were, a->part_limit, sizeof parts_were);
    if (part)
        memcpy(a->part_limit, part, a->parts.n * sizeof *part);
    a->limit = limit;
    a->is_divided = part != NULL;
    if (write_all(a, err) == 0) {
        a->is_set = 1;
        return 0;
    }
    memcpy(a->part_limit, parts_were, sizeof parts_were);
    a->limit = was;
    a->is_divided = was_divided;
    if (a->is_set)
        (void)write_all(a, NULL);
    else
        write_found(a);
    return -1;
}

int actuator_set(struct actuator *a, uint64_t limit, struct es_error *err)
{
    if (check_limit(a, limit, err) < 0)
        return -1;
    /* The node's group may not go below what a part in it has. */
    if (a->is_divided && set_all(a, a->limit, NULL, err) < 0)
        return -1;
    return set_all(a, limit, NULL, err);
}

int actuator_set_parts(struct actuator *a,
                       uint64_t limit,
                       const uint64_t part[],
                       struct es_error *err)
{
    if (check_limit(a, limit, err) < 0)
        return -1;
    if (!power_parts_allowed(a->parts.part, a->parts.n, limit, part))
        return es_fail(err, ES_USAGE, "give limits within their bounds",
                       "%s: the parts are not as they can be", a->kind->name);
    return set_all(a, limit, part, err);
}

/* None of them has a limit of its own now. */
static void forget_parts(struct actuator *a)
{
    a->n = a->own;
    for (size_t i = 0; i < a->n; i++)
        a->knob[i].part = PART_NONE;
    a->parts.n = a->parts.tasks = 0;
}

static int divide_over(struct actuator *a,
                       const struct actuator_place *place,
                       const struct actuator_runs *runs,
                       struct es_error *err)
{
    int rc = a->kind->divide(a, place, runs, err);

    if (rc == 0 && a->parts.n > 1)
        return 1;
    forget_parts(a);
    return rc;
}

int actuator_divide(struct actuator *a,
                    const struct actuator_place *place,
                    const struct actuator_runs *runs,
                    struct es_error *err)
{
    const struct actuator_runs tasks = {.task = runs->task,
                                        .tasks = runs->tasks};

    if (!a->kind->divide)
        return 0;
    if (a->is_divided && set_all(a, a->limit, NULL, err) < 0)
        return -1;
    forget_parts(a);
    if (runs->threads > 0 && divide_over(a, place, runs, NULL) == 1)
        return 1;
    return divide_over(a, place, &tasks, err);
}

void actuator_restore(struct actuator *a)
{
    if (a->is_set)
        write_found(a);
    a->is_set = a->is_divided = 0;
}

void actuator_close(struct actuator *a)
{
    actuator_restore(a);
    if (a->kind && a->kind->remove)
        a->kind->remove(a);
    free(a->knob);
    memset(a, 0, sizeof *a);
}
