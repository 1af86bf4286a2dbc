/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The specification has tasks, their parents and files; the execution has how
 * long each task took.  What goes over an edge is the files that the parent
 * makes and the child takes.
 */
#include "launcher/graph/graph_format.h"

#include <stdio.h>
#include <stdlib.h>

#define PLACE_MAX 96

struct wfformat {
    struct graph_draft *d;
    double rate;
    const json_t *tasks;         /* of the specification */
    json_t *executions, *makers; /* by task's id; by file's id, a list */
    json_t *files;               /* by file's id */
    uint32_t *stamp;             /* by task: the last child it is parent of */
    double *sent;                /* by task: to that child, bytes */
    struct es_error *err;
};

static int bad(const struct wfformat *w, const char *place, const char *what)
{
    return draft_fail(w->d, place, "see https://wfcommons.org/format", what,
                      w->err);
}

/* The items of a list, of which each has a number `key`, by their ids. */
static int index_by_id(const struct wfformat *w,
                       json_t *index,
                       const json_t *list,
                       const char *name,
                       const char *key)
{
    char place[PLACE_MAX];

    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i);
        const char *id = json_string_value(json_object_get(item, "id"));
        json_t *value = json_object_get(item, key);

        snprintf(place, sizeof place, "%s[%zu]", name, i);
        if (!id)
            return bad(w, place, "no id");
        if (!json_is_number(value) || json_number_value(value) < 0) {
            snprintf(place, sizeof place, "%s[%zu].%s", name, i, key);
            return bad(w, place, "no number from 0");
        }
        if (json_object_set(index, id, item) < 0)
            return es_no_memory(w->err);
    }
    return 0;
}

/* Enter the task as a maker of its files. */
static int add_maker(struct wfformat *w, uint32_t v, const json_t *files)
{
    for (size_t i = 0; i < json_array_size(files); i++) {
        const char *id = json_string_value(json_array_get(files, i));
        json_t *list = id ? json_object_get(w->makers, id) : NULL;

        if (!id)
            return bad(w, "workflow.specification.tasks[].outputFiles",
                       "no file's id");
        if (!list) {
            list = json_array();
            if (!list || json_object_set_new(w->makers, id, list) < 0)
                return es_no_memory(w->err);
        }
        if (json_array_append_new(list, json_integer(v)) < 0)
            return es_no_memory(w->err);
    }
    return 0;
}

/* A member of an object; 0 if there is none. */
static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static int read_tasks(struct wfformat *w)
{
    char place[PLACE_MAX];

    for (size_t i = 0; i < json_array_size(w->tasks); i++) {
        const json_t *task = json_array_get(w->tasks, i);
        const json_t *id = json_object_get(task, "id");
        const json_t *execution =
            json_is_string(id)
                ? json_object_get(w->executions, json_string_value(id))
                : NULL;

        snprintf(place, sizeof place, "workflow.specification.tasks[%zu]", i);
        if (json_is_string(id) && !execution)
            return bad(w, place, "no runtimeInSeconds in the execution");
        if (draft_task(w->d, place, id,
                       number_of(execution, "runtimeInSeconds"), w->err)
                < 0
            || draft_need(w->d, place, number_of(execution, "coreCount"),
                          number_of(execution, "memoryInBytes"), w->err)
                   < 0
            || add_maker(w, (uint32_t)i, json_object_get(task, "outputFiles"))
                   < 0)
            return -1;
    }
    return 0;
}

/* Add a file that v takes to what its parents among the makers send. */
static int add_sent(struct wfformat *w, uint32_t v, const json_t *file)
{
    const char *id = json_string_value(file);
    const json_t *makers = id ? json_object_get(w->makers, id) : NULL;
    const json_t *of = id ? json_object_get(w->files, id) : NULL;

    for (size_t i = 0; i < json_array_size(makers); i++) {
        uint32_t u = (uint32_t)json_integer_value(json_array_get(makers, i));

        if (w->stamp[u] != v + 1)
            continue;
        if (!of)
            return bad(w, id, "no sizeInBytes in specification.files");
        w->sent[u] += number_of(of, "sizeInBytes");
    }
    return 0;
}

static int read_edges(struct wfformat *w, uint32_t v, const json_t *task)
{
    const json_t *parents = json_object_get(task, "parents");
    const json_t *files = json_object_get(task, "inputFiles");
    char place[PLACE_MAX];
    uint32_t u;

    snprintf(place, sizeof place, "workflow.specification.tasks[%u].parents",
             v);
    for (size_t i = 0; i < json_array_size(parents); i++) {
        u = draft_find(w->d, place, json_array_get(parents, i), w->err);
        if (u == GRAPH_NOBODY)
            return -1;
        w->stamp[u] = v + 1;
        w->sent[u] = 0;
    }
    for (size_t i = 0; i < json_array_size(files); i++)
        if (add_sent(w, v, json_array_get(files, i)) < 0)
            return -1;
    for (size_t i = 0; i < json_array_size(parents); i++) {
        u = draft_find(w->d, place, json_array_get(parents, i), w->err);
        if (w->stamp[u] != v + 1)
            continue; /* the same parent again */
        w->stamp[u] = 0;
        if (draft_edge(w->d, place, u, v, w->sent[u] / w->rate, w->err) < 0)
            return -1;
    }
    return 0;
}

static int read_all(struct wfformat *w, const json_t *all)
{
    const json_t *workflow = json_object_get(all, "workflow");
    const json_t *spec = json_object_get(workflow, "specification");
    const json_t *execution = json_object_get(workflow, "execution");

    w->tasks = json_object_get(spec, "tasks");
    if (!json_is_array(w->tasks))
        return bad(w, "workflow.specification.tasks", "no such list");
    w->stamp = calloc(json_array_size(w->tasks) + 1, sizeof *w->stamp);
    w->sent = calloc(json_array_size(w->tasks) + 1, sizeof *w->sent);
    if (!w->executions || !w->makers || !w->files || !w->stamp || !w->sent)
        return es_no_memory(w->err);
    if (index_by_id(w, w->executions, json_object_get(execution, "tasks"),
                    "workflow.execution.tasks", "runtimeInSeconds")
            < 0
        || index_by_id(w, w->files, json_object_get(spec, "files"),
                       "workflow.specification.files", "sizeInBytes")
               < 0
        || read_tasks(w) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(w->tasks); i++)
        if (read_edges(w, (uint32_t)i, json_array_get(w->tasks, i)) < 0)
            return -1;
    return 0;
}

int graph_read_wfformat(struct graph_draft *d,
                        const json_t *all,
                        const struct graph_reading *how,
                        struct es_error *err)
{
    struct wfformat w = {
        .d = d,
        .rate = how->rate,
        .executions = json_object(),
        .makers = json_object(),
        .files = json_object(),
        .err = err,
    };
    int rc;

    d->understood.format = "WfCommons' WfFormat";
    rc = read_all(&w, all);

    json_decref(w.executions);
    json_decref(w.makers);
    json_decref(w.files);
    free(w.stamp);
    free(w.sent);
    return rc;
}
