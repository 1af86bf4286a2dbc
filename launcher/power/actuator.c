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

int actuator_open(struct actuator *a,
                  const struct actuator_kind *kind,
                  const struct actuator_place *place,
                  double start,
                  double lowest,
                  struct es_error *err)
{
    memset(a, 0, sizeof *a);
    a->kind = kind;
    if (kind->find(a, place, err) < 0) {
        actuator_close(a);
        return -1;
    }
    a->floor = larger(1, larger(a->floor, part_of(lowest, a->ceiling)));
    a->ceiling = larger(a->floor, a->ceiling);
    a->limit = larger(a->floor, part_of(start, a->ceiling));
    return 0;
}

static int write_limit(const struct actuator *a,
                       const struct knob *knob,
                       uint64_t limit)
{
    char text[KNOB_TEXT];

    a->kind->format(a, knob, limit, text);
    return actuator_write(knob->path, text);
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

/* Write back the value before the last actuator_set(). */
static void set_back(const struct actuator *a, const struct knob *knob)
{
    if (a->is_set)
        (void)write_limit(a, knob, a->limit);
    else
        (void)actuator_write(knob->path, knob->found);
}

int actuator_set(struct actuator *a, uint64_t limit, struct es_error *err)
{
    if (limit < a->floor || limit > a->ceiling)
        return es_fail(err, ES_USAGE, "give a limit within its bounds",
                       "%s: %ju is not between %ju and %ju", a->kind->name,
                       (uintmax_t)limit, (uintmax_t)a->floor,
                       (uintmax_t)a->ceiling);
    for (size_t i = 0; i < a->n; i++) {
        if (write_limit(a, &a->knob[i], limit) == 0)
            continue;
        (void)unwritable(&a->knob[i], err);
        while (i-- > 0)
            set_back(a, &a->knob[i]);
        return -1;
    }
    a->limit = limit;
    a->is_set = 1;
    return 0;
}

void actuator_restore(struct actuator *a)
{
    for (size_t i = 0; a->is_set && i < a->n; i++)
        (void)actuator_write(a->knob[i].path, a->knob[i].found);
    a->is_set = 0;
}

void actuator_close(struct actuator *a)
{
    actuator_restore(a);
    if (a->kind && a->kind->remove)
        a->kind->remove(a);
    free(a->knob);
    memset(a, 0, sizeof *a);
}
