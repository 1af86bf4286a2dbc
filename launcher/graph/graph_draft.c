/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_draft.h"
#include "launcher/base/number.h"
#include "pmix_bcast/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX    1e9 /* of one task or edge: 31 years */
#define TASK_CORES_MAX 65536
#define MEMORY_MAX     1e18 /* bytes */
#define ID_MAX         256  /* bytes of an identifier in a message */

int draft_fail(const struct graph_draft *d,
               const char *place,
               const char *mend,
               const char *what,
               struct es_error *err)
{
    return es_fail(err, ES_USAGE, mend, "%s: %s: %s", d->name, place, what);
}

int draft_init(struct graph_draft *d, const char *name, struct es_error *err)
{
    *d = (struct graph_draft){.name = name};
    d->ids = json_array();
    d->index = json_object();
    return d->ids && d->index ? 0 : es_no_memory(err);
}

void draft_clear(struct graph_draft *d)
{
    json_decref(d->ids);
    json_decref(d->index);
    free(d->time);
    free(d->need);
    free(d->edge);
    *d = (struct graph_draft){0};
}

/* --- identifiers ---------------------------------------------------------- */

/* The text of an identifier; number is room for an integer's. */
static const char *id_text(const json_t *id, char number[24])
{
    if (json_is_string(id))
        return json_string_value(id);
    if (!json_is_integer(id))
        return NULL;
    snprintf(number, 24, "%" JSON_INTEGER_FORMAT, json_integer_value(id));
    return number;
}

uint32_t draft_find(const struct graph_draft *d,
                    const char *place,
                    const json_t *id,
                    struct es_error *err)
{
    char number[24], what[ID_MAX];
    const char *text = id_text(id, number);
    const json_t *found = text ? json_object_get(d->index, text) : NULL;

    if (found)
        return (uint32_t)json_integer_value(found);
    if (!text)
        (void)draft_fail(d, place, "give a task's id, a string or an integer",
                         "no id", err);
    else {
        snprintf(what, sizeof what, "no task \"%s\"", text);
        (void)draft_fail(d, place, "name a task that is in the file", what,
                         err);
    }
    return GRAPH_NOBODY;
}

/* Enter the identifier of the task to come; an integer and a string of the
 * same text are one. */
static int enter(struct graph_draft *d,
                 const char *place,
                 const json_t *id,
                 struct es_error *err)
{
    char number[24], what[ID_MAX];
    const char *text = id_text(id, number);

    if (!text || !*text)
        return draft_fail(d, place, "give text in UTF-8, or an integer",
                          "no id", err);
    if (json_object_get(d->index, text)) {
        snprintf(what, sizeof what, "task \"%s\" is there already", text);
        return draft_fail(d, place, "give each task an id of its own", what,
                          err);
    }
    if (json_object_set_new_nocheck(
            d->index, text, json_integer((json_int_t)json_array_size(d->ids)))
            < 0
        || json_array_append_new(d->ids, json_deep_copy(id)) < 0)
        return es_no_memory(err);
    return 0;
}

/* --- tasks and edges ------------------------------------------------------ */

static int is_time(double seconds)
{
    return isfinite(seconds) && seconds >= 0 && seconds <= SECONDS_MAX;
}

static int64_t ns_of(double seconds)
{
    return (int64_t)floor(seconds * GRAPH_NS_PER_S + 0.5);
}

int draft_task(struct graph_draft *d,
               const char *place,
               const json_t *id,
               double seconds,
               struct es_error *err)
{
    uint32_t n = (uint32_t)json_array_size(d->ids);
    struct graph_need *need;
    int64_t *time;

    if (n >= GRAPH_TASKS_MAX)
        return draft_fail(d, place, "give at most 1048576", "too many tasks",
                          err);
    if (!is_time(seconds))
        return draft_fail(d, place, "give seconds, 0 to 1e9",
                          "no time, or it is out of range", err);
    time = array_grow(d->time, &d->time_room, n + (size_t)1, sizeof *time,
                      GRAPH_NOBODY);
    if (!time)
        return es_no_memory(err);
    d->time = time;
    need = array_grow(d->need, &d->need_room, n + (size_t)1, sizeof *need,
                      GRAPH_NOBODY);
    if (!need)
        return es_no_memory(err);
    d->need = need;
    d->need[n] = (struct graph_need){.cores = 1};
    if (enter(d, place, id, err) < 0)
        return -1;
    d->time[n] = ns_of(seconds);
    return 0;
}

int draft_need(struct graph_draft *d,
               const char *place,
               double cores,
               double memory,
               struct es_error *err)
{
    struct graph_need *need = &d->need[json_array_size(d->ids) - 1];

    if (!(cores >= 0) || cores > TASK_CORES_MAX)
        return draft_fail(d, place, "give cores from 1 to 65536",
                          "no number of cores", err);
    if (!(memory >= 0) || memory > MEMORY_MAX)
        return draft_fail(d, place, "give bytes, as 2000000000 or \"2GB\"",
                          "no size of memory", err);
    if (cores > 1)
        need->cores = (uint32_t)ceil(cores);
    need->memory = memory;
    d->has_needs |= cores > 1 || memory > 0;
    return 0;
}

double draft_bytes(const json_t *value)
{
    const char *text = json_string_value(value);
    double bytes = -1;

    if (!value)
        return 0;
    if (json_is_number(value))
        return json_number_value(value);
    if (!text
        || number_parse_unit(text, NUMBER_BYTES, 0, MEMORY_MAX, &bytes) < 0)
        return -1;
    return bytes;
}

int draft_edge(struct graph_draft *d,
               const char *place,
               uint32_t from,
               uint32_t to,
               double seconds,
               struct es_error *err)
{
    struct graph_edge *edge;

    if (d->edges >= GRAPH_EDGES_MAX)
        return draft_fail(d, place, "give at most 16777216", "too many edges",
                          err);
    if (!is_time(seconds))
        return draft_fail(d, place, "give seconds, 0 to 1e9",
                          "no communication, or it is out of range", err);
    edge = array_grow(d->edge, &d->edge_room, d->edges + (size_t)1,
                      sizeof *edge, GRAPH_NOBODY);
    if (!edge)
        return es_no_memory(err);
    d->edge = edge;
    d->edge[d->edges++] = (struct graph_edge){from, to, ns_of(seconds)};
    return 0;
}

int draft_set_time(struct graph_draft *d,
                   const char *place,
                   uint32_t task,
                   double seconds,
                   struct es_error *err)
{
    if (!is_time(seconds))
        return draft_fail(d, place, "give seconds, 0 to 1e9",
                          "no time, or it is out of range", err);
    d->time[task] = ns_of(seconds);
    return 0;
}

int draft_set_comms(struct graph_draft *d,
                    const char *place,
                    double seconds,
                    struct es_error *err)
{
    if (!is_time(seconds))
        return draft_fail(d, place, "give a smaller --ccr",
                          "communication is out of range", err);
    for (uint32_t i = 0; i < d->edges; i++)
        d->edge[i].comm = ns_of(seconds);
    return 0;
}

int draft_finish(struct graph_draft *d,
                 struct graph_file *f,
                 struct es_error *err)
{
    uint32_t place = 0;
    char number[24];
    enum graph_fault fault =
        graph_create(&f->graph, d->time, (uint32_t)json_array_size(d->ids),
                     d->edge, d->edges, &place);

    switch (fault) {
    case GRAPH_SOUND:
        if (d->has_needs && graph_set_needs(f->graph, d->need) < 0) {
            graph_destroy(f->graph);
            f->graph = NULL;
            return es_no_memory(err);
        }
        f->ids = d->ids;
        d->ids = NULL;
        f->understood = d->understood;
        f->watts = d->watts;
        return 0;
    case GRAPH_TASKS:
        return es_fail(err, ES_USAGE, "give at least one", "%s: no tasks",
                       d->name);
    case GRAPH_CYCLE:
        return es_fail(err, ES_USAGE, "a task graph has no cycles",
                       "%s: task \"%s\" waits for itself", d->name,
                       id_text(json_array_get(d->ids, place), number));
    case GRAPH_TOO_LONG:
        return es_fail(err, ES_USAGE, "give less than 73 years together",
                       "%s: all times together are too long", d->name);
    default: /* what else can be wrong was seen to before */
        return es_no_memory(err);
    }
}
