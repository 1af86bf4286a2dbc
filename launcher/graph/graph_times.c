/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_times.h"
#include "pmix_bcast/array.h"

#include <stdlib.h>
#include <string.h>

int graph_times_init(struct graph_times *t, struct es_error *err)
{
    *t = (struct graph_times){.index = json_object()};
    return t->index ? 0 : es_no_memory(err);
}

void graph_times_clear(struct graph_times *t)
{
    for (uint32_t i = 0; i < t->rows; i++)
        free(t->row[i].name);
    free(t->row);
    json_decref(t->index);
    *t = (struct graph_times){0};
}

struct graph_time *graph_times_find(const struct graph_times *t,
                                    const char *name)
{
    const json_t *number = json_object_get(t->index, name);

    return number ? &t->row[json_integer_value(number)] : NULL;
}

static void add_to(struct graph_time *known, const struct graph_time *row)
{
    known->measured++;
    known->seconds += (row->seconds - known->seconds) / known->measured;
    if (row->memory > known->memory)
        known->memory = row->memory;
    if (row->cores > known->cores)
        known->cores = row->cores;
}

int graph_times_add(struct graph_times *t,
                    const struct graph_time *row,
                    struct es_error *err)
{
    struct graph_time *known = graph_times_find(t, row->name), *grown;

    if (known) {
        add_to(known, row);
        return 0;
    }
    grown = array_grow(t->row, &t->room, t->rows + (size_t)1, sizeof *grown,
                       GRAPH_TIMES_MAX);
    if (!grown)
        return es_no_memory(err);
    t->row = grown;
    t->row[t->rows] = *row;
    t->row[t->rows].measured = 1;
    t->row[t->rows].name = strdup(row->name);
    if (!t->row[t->rows].name)
        return es_no_memory(err);
    if (json_object_set_new(t->index, row->name, json_integer(t->rows)) < 0) {
        free(t->row[t->rows].name);
        return es_fail(err, ES_USAGE, "give a text in UTF-8",
                       "--times: \"%.100s\" is no name", row->name);
    }
    t->rows++;
    return 0;
}
