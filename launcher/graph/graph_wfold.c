/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_wfold.h"

#include <string.h>

#define KILO 1000.0

/* The first of two members that is there, both of numbers, the second in
 * thousands; NULL: neither. */
static json_t *either(const json_t *object,
                      const char *now,
                      const char *before,
                      double factor)
{
    json_t *value = json_object_get(object, now);

    if (json_is_number(value))
        return json_incref(value);
    value = json_object_get(object, before);
    return json_is_number(value) ? json_real(json_number_value(value) * factor)
                                 : NULL;
}

static const char *id_of(const json_t *task)
{
    const char *id = json_string_value(json_object_get(task, "id"));

    return id ? id : json_string_value(json_object_get(task, "name"));
}

/* Parents are named by their ids, or by their names. */
static json_t *parents_of(const json_t *task, const json_t *ids)
{
    const json_t *parents = json_object_get(task, "parents"), *one;
    json_t *list = json_array();
    size_t i;

    json_array_foreach(parents, i, one)
    {
        const char *text = json_string_value(one);
        json_t *id = text ? json_object_get(ids, text) : NULL;

        if (json_array_append(list, id ? id : (json_t *)one) < 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* The names of those files of a task that are linked so, and their sizes. */
static json_t *files_of(const json_t *task, const char *link, json_t *files)
{
    const json_t *one;
    json_t *list = json_array();
    size_t i;
    int bad = !list;

    json_array_foreach(json_object_get(task, "files"), i, one)
    {
        const char *name = json_string_value(json_object_get(one, "name"));
        const char *how = json_string_value(json_object_get(one, "link"));
        json_t *size = either(one, "sizeInBytes", "size", KILO);

        if (name && how && strcmp(how, link) == 0)
            bad |= json_array_append_new(list, json_string(name))
                   | json_object_set_new(files, name,
                                         json_pack("{s:s, s:O*}", "id", name,
                                                   "sizeInBytes", size));
        json_decref(size);
    }
    if (!bad)
        return list;
    json_decref(list);
    return NULL;
}

static int add_task(const json_t *task,
                    const json_t *ids,
                    json_t *tasks,
                    json_t *executions,
                    json_t *files)
{
    const char *id = id_of(task);
    json_t *execution;

    if (!id) /* whoever reads it will say so */
        return json_array_append_new(tasks, json_object());
    execution =
        json_pack("{s:s, s:o*, s:o*, s:o*, s:O*}", "id", id, "runtimeInSeconds",
                  either(task, "runtimeInSeconds", "runtime", 1), "coreCount",
                  either(task, "coreCount", "cores", 1), "memoryInBytes",
                  either(task, "memoryInBytes", "memory", KILO), "command",
                  json_object_get(task, "command"));
    return json_array_append_new(executions, execution)
           | json_array_append_new(
               tasks, json_pack("{s:s, s:o, s:o, s:o}", "id", id, "parents",
                                parents_of(task, ids), "inputFiles",
                                files_of(task, "input", files), "outputFiles",
                                files_of(task, "output", files)));
}

/* An id by each id, and by each name that is not one. */
static int index_ids(json_t *ids, const json_t *old)
{
    const json_t *one;
    size_t i;
    int bad = 0;

    for (int by_id = 0; by_id < 2; by_id++)
        json_array_foreach(old, i, one)
        {
            const char *id = id_of(one);
            const char *name =
                json_string_value(json_object_get(one, by_id ? "id" : "name"));

            if (id && name)
                bad |= json_object_set_new(ids, name, json_string(id));
        }
    return bad;
}

int graph_wfold_update(json_t *all)
{
    json_t *workflow = json_object_get(all, "workflow"), *file;
    const json_t *old = json_object_get(workflow, "tasks"), *one;
    json_t *ids = json_object(), *files = json_object(), *sizes = json_array();
    json_t *tasks = json_array(), *executions = json_array();
    const char *name;
    size_t i;
    int bad = !ids || !files || !sizes || !tasks || !executions;

    if (!old)
        old = json_object_get(workflow, "jobs");
    if (!bad && json_is_array(old)
        && !json_object_get(workflow, "specification")) {
        bad = index_ids(ids, old);
        json_array_foreach(old, i, one) bad |=
            add_task(one, ids, tasks, executions, files);
        json_object_foreach(files, name, file) bad |=
            json_array_append(sizes, file);
        bad |= json_object_set_new(
                   workflow, "specification",
                   json_pack("{s:O, s:O}", "tasks", tasks, "files", sizes))
               | json_object_set_new(workflow, "execution",
                                     json_pack("{s:O}", "tasks", executions));
    }
    json_decref(ids);
    json_decref(files);
    json_decref(sizes);
    json_decref(tasks);
    json_decref(executions);
    return bad ? -1 : 0;
}
