/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_format.h"

#include <stdio.h>

#define PLACE_MAX 64

/* A number of seconds, or -1, which no draft takes, if it is none. */
static double seconds_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : -1;
}

/* A number of cores, 0 if the task says none. */
static double cores_of(const json_t *value)
{
    if (!value)
        return 0;
    return json_is_integer(value) && json_integer_value(value) > 0
               ? (double)json_integer_value(value)
               : -1;
}

static int read_edge(struct graph_draft *d,
                     size_t i,
                     const json_t *edge,
                     struct es_error *err)
{
    char place[PLACE_MAX];
    uint32_t from, to;

    snprintf(place, sizeof place, "edges[%zu].from", i);
    from = draft_find(d, place, json_object_get(edge, "from"), err);
    if (from == GRAPH_NOBODY)
        return -1;
    snprintf(place, sizeof place, "edges[%zu].to", i);
    to = draft_find(d, place, json_object_get(edge, "to"), err);
    if (to == GRAPH_NOBODY)
        return -1;
    snprintf(place, sizeof place, "edges[%zu].comm", i);
    return draft_edge(d, place, from, to,
                      seconds_of(json_object_get(edge, "comm")), err);
}

int graph_read_own(struct graph_draft *d,
                   const json_t *all,
                   struct es_error *err)
{
    const json_t *tasks = json_object_get(all, "tasks");
    const json_t *edges = json_object_get(all, "edges");
    char place[PLACE_MAX];

    d->understood.format = "evenstep's own";
    if (!json_is_array(tasks))
        return draft_fail(d, "tasks", "give a list of tasks", "no such list",
                          err);
    if (edges && !json_is_array(edges))
        return draft_fail(d, "edges", "give a list of edges", "no list", err);
    for (size_t i = 0; i < json_array_size(tasks); i++) {
        const json_t *task = json_array_get(tasks, i);

        snprintf(place, sizeof place, "tasks[%zu]", i);
        if (draft_task(d, place, json_object_get(task, "id"),
                       seconds_of(json_object_get(task, "time")), err)
                < 0
            || draft_need(d, place, cores_of(json_object_get(task, "cores")),
                          draft_bytes(json_object_get(task, "memory")), err)
                   < 0)
            return -1;
    }
    for (size_t i = 0; i < json_array_size(edges); i++)
        if (read_edge(d, i, json_array_get(edges, i), err) < 0)
            return -1;
    return 0;
}
