/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/meter/group_events.h"
#include "launcher/base/cgroup_limit.h"
#include "launcher/base/sysfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS 512u /* of a node; others do not count */

struct group {
    char *path;
    int version, is_nodes;
    uint64_t throttled_ns; /* since it was found, as of the last look */
    uint64_t at_first;
};

struct group_events {
    const char *proc, *sysfs;
    uint32_t n;
    struct group group[GROUPS];
};

static int read_throttled(const struct group *g, uint64_t *ns)
{
    if (g->version == 1)
        return sysfs_find_u64(ns, "throttled_time ", "%s/cpu.stat", g->path);
    if (sysfs_find_u64(ns, "throttled_usec ", "%s/cpu.stat", g->path) < 0)
        return -1;
    *ns *= 1000;
    return 0;
}

static int read_killed(const struct group *g, uint64_t *killed)
{
    return g->version == 1 ? sysfs_find_u64(killed, "oom_kill ",
                                            "%s/memory.oom_control", g->path)
                           : sysfs_find_u64(killed, "oom_kill ",
                                            "%s/memory.events", g->path);
}

/* GROUPS: there is no room. */
static uint32_t group_of(struct group_events *e, int version, const char *path)
{
    size_t len = strlen(path);
    struct group *g;
    uint32_t i = 0;

    while (len > 1 && path[len - 1] == '/')
        len--;
    while (i < e->n
           && (strncmp(e->group[i].path, path, len) != 0
               || e->group[i].path[len] != '\0'))
        i++;
    if (i < e->n || i == GROUPS)
        return i;
    g = &e->group[i];
    *g = (struct group){.path = strndup(path, len), .version = version};
    if (!g->path)
        return GROUPS;
    (void)read_throttled(g, &g->at_first);
    e->n++;
    return i;
}

static void add(uint32_t list[GROUP_EVENTS_DEPTH], uint32_t *n, uint32_t group)
{
    for (uint32_t i = 0; i < *n; i++)
        if (list[i] == group)
            return;
    if (*n < GROUP_EVENTS_DEPTH)
        list[(*n)++] = group;
}

struct search {
    struct group_events *e;
    struct group_place *place; /* NULL: the node's */
};

static void on_group(void *arg, int version, const char *path)
{
    const struct search *s = arg;
    uint32_t i = group_of(s->e, version, path);
    uint64_t v;

    if (i == GROUPS)
        return;
    if (!s->place)
        s->e->group[i].is_nodes = 1;
    else if (!s->e->group[i].is_nodes
             && read_throttled(&s->e->group[i], &v) == 0)
        add(s->place->cpu, &s->place->cpu_n, i);
    if (s->place && read_killed(&s->e->group[i], &v) == 0)
        add(s->place->memory, &s->place->memory_n, i);
}

struct group_events *group_events_open(const char *proc, const char *sysfs)
{
    struct group_events *e = calloc(1, sizeof *e);
    struct search s = {.e = e};

    if (!e)
        return NULL;
    e->proc = proc;
    e->sysfs = sysfs;
    cgroup_each(proc, "self", sysfs, on_group, &s);
    return e;
}

void group_events_place(struct group_events *e,
                        pid_t pid,
                        struct group_place *place)
{
    struct search s = {.e = e, .place = place};
    char process[16];

    place->cpu_n = place->memory_n = 0;
    (void)snprintf(process, sizeof process, "%d", (int)pid);
    cgroup_each(e->proc, process, e->sysfs, on_group, &s);
}

void group_events_look(struct group_events *e)
{
    for (uint32_t i = 0; i < e->n; i++) {
        struct group *g = &e->group[i];
        uint64_t ns;

        if (read_throttled(g, &ns) == 0 && ns >= g->at_first)
            g->throttled_ns = ns - g->at_first;
    }
}

uint64_t group_events_throttled(const struct group_events *e,
                                const struct group_place *place)
{
    uint64_t ns = 0;

    if (place)
        for (uint32_t i = 0; i < place->cpu_n; i++)
            ns += e->group[place->cpu[i]].throttled_ns;
    else
        for (uint32_t i = 0; i < e->n; i++)
            ns += e->group[i].is_nodes ? e->group[i].throttled_ns : 0;
    return ns;
}

uint64_t group_events_killed(const struct group_events *e,
                             const struct group_place *place)
{
    uint64_t killed = 0, v;

    for (uint32_t i = 0; i < place->memory_n; i++)
        if (read_killed(&e->group[place->memory[i]], &v) == 0)
            killed += v;
    return killed;
}

void group_events_close(struct group_events *e)
{
    if (!e)
        return;
    for (uint32_t i = 0; i < e->n; i++)
        free(e->group[i].path);
    free(e);
}
