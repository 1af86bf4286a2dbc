/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_work.h"
#include "launcher/graph/graph_manner.h"
#include "launcher/graph/graph_text.h"
#include "launcher/graph/graph_wfold.h"
#include "launcher/wire/graph_message.h"
#include "pmix_bcast/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One file being read. */
struct reading {
    struct graph_work *w;
    const struct graph_file *f;
    const char *path;
    struct es_error *err;
};

static int bad(const struct reading *r,
               uint32_t v,
               const char *key,
               const char *mend,
               const char *what)
{
    return es_fail(r->err, ES_USAGE, mend, "%s: task \"%.100s\": %s: %.300s",
                   r->path, r->w->task[v].name, key, what);
}

/* --- files ---------------------------------------------------------------- */

/* The number of a file by its name, new if there is none; -1: no memory. */
static int64_t file_of(struct graph_work *w, const char *name)
{
    const json_t *known = json_object_get(w->index, name);
    struct graph_work_file *grown;

    if (known)
        return json_integer_value(known);
    grown = array_grow(w->file, &w->room, w->files + (size_t)1, sizeof *grown,
                       GRAPH_NOBODY);
    if (!grown)
        return -1;
    w->file = grown;
    w->file[w->files] = (struct graph_work_file){strdup(name), GRAPH_NOBODY, 0};
    if (!w->file[w->files].name
        || json_object_set_new(w->index, name, json_integer(w->files)) < 0) {
        free(w->file[w->files].name);
        return -1;
    }
    return w->files++;
}

/* A text, or Makeflow's object, whose two names are one; NULL with err. */
static const char *name_of(const struct reading *r,
                           uint32_t v,
                           const char *key,
                           const json_t *item)
{
    const char *outside = json_string_value(json_object_get(item, "dag_name"));
    const char *inside = json_string_value(json_object_get(item, "task_name"));
    const char *name = outside ? outside : json_string_value(item);
    char what[300];

    if (inside && outside && strcmp(inside, outside) != 0) {
        snprintf(what, sizeof what,
                 "%.120s is renamed to %.120s for the task (task_name)",
                 outside, inside);
        bad(r, v, key, "give it one name, or rename it in command", what);
        return NULL;
    }
    if (name && graph_name_is_good(name))
        return name;
    bad(r, v, key, "give relative names, without \"..\"",
        name ? name : "no name");
    return NULL;
}

static int read_names(const struct reading *r,
                      uint32_t v,
                      const char *key,
                      const json_t *list,
                      uint32_t **file,
                      uint32_t *n)
{
    size_t size = json_array_size(list);

    if (list && !json_is_array(list))
        return bad(r, v, key, "give a list of names", "no list");
    *file = calloc(size + 1, sizeof **file);
    if (!*file)
        return es_no_memory(r->err);
    for (size_t i = 0; i < size; i++) {
        const char *name = name_of(r, v, key, json_array_get(list, i));
        int64_t number;

        if (!name)
            return -1;
        number = file_of(r->w, name);
        if (number < 0)
            return es_no_memory(r->err);
        for (uint32_t k = 0; k < *n; k++)
            if ((*file)[k] == number)
                return bad(r, v, key, "name it once", name);
        (*file)[(*n)++] = (uint32_t)number;
    }
    return 0;
}

static int has_edge(const struct graph *g, uint32_t u, uint32_t v)
{
    for (uint32_t i = g->pred_at[v]; i < g->pred_at[v + 1]; i++)
        if (g->pred[i].task == u)
            return 1;
    return 0;
}

static int check_inputs(const struct reading *r, uint32_t v)
{
    const struct graph_work_task *t = &r->w->task[v];

    for (uint32_t i = 0; i < t->inputs; i++) {
        struct graph_work_file *f = &r->w->file[t->input[i]];

        f->takers++;
        if (f->maker == v)
            return bad(r, v, f->name, "give the one that it makes another name",
                       "an input and an output");
        if (f->maker != GRAPH_NOBODY && !has_edge(r->f->graph, f->maker, v))
            return bad(r, v, f->name, "add an edge from the task that makes it",
                       "comes from a task that it does not wait for");
    }
    return 0;
}

static int check_files(const struct reading *r)
{
    struct graph_work *w = r->w;

    for (uint32_t v = 0; v < w->tasks; v++)
        for (uint32_t i = 0; i < w->task[v].outputs; i++) {
            struct graph_work_file *f = &w->file[w->task[v].output[i]];

            if (f->maker != GRAPH_NOBODY)
                return bad(r, v, f->name, "let one task make it",
                           "another task makes it, too");
            f->maker = v;
        }
    for (uint32_t v = 0; v < w->tasks; v++)
        if (check_inputs(r, v) < 0)
            return -1;
    return 0;
}

/* --- commands ------------------------------------------------------------- */

/* Words from texts of JSON; NULL if one is none, or memory ran out. */
static char **words_of(const char *first, const json_t *rest)
{
    size_t n = json_array_size(rest), at = 0;
    char **argv = calloc(n + 2, sizeof *argv);

    if (!argv)
        return NULL;
    if (first)
        argv[at++] = strdup(first);
    for (size_t i = 0; i < n; i++) {
        const char *word = json_string_value(json_array_get(rest, i));

        argv[at] = word ? strdup(word) : NULL;
        if (!argv[at++])
            break;
    }
    if (at > 0 && argv[at - 1] && argv[0][0])
        return argv;
    for (size_t i = 0; i < at; i++)
        free(argv[i]);
    free(argv);
    return NULL;
}

static int read_command(const struct reading *r, uint32_t v, const json_t *c)
{
    struct graph_work_task *t = &r->w->task[v];
    const char *line = json_string_value(c);
    json_t *shell = NULL;

    if (line && *line) {
        shell = json_pack("[s,s,s]", "/bin/sh", "-c", line);
        t->argv = words_of(NULL, shell);
        json_decref(shell);
    } else if (json_is_array(c)) {
        t->argv = words_of(NULL, c);
    } else if (json_is_object(c)) { /* WfFormat's */
        t->argv = words_of(json_string_value(json_object_get(c, "program")),
                           json_object_get(c, "arguments"));
    }
    if (t->argv)
        return 0;
    return bad(r, v, "command", "give a line for the shell, or a list of words",
               c ? "no command" : "there is none");
}

/* --- tasks ---------------------------------------------------------------- */

static int name_task(const struct reading *r, uint32_t v)
{
    const json_t *id = json_array_get(r->f->ids, v);
    char **name = &r->w->task[v].name;

    if (json_is_string(id))
        *name = strdup(json_string_value(id));
    else if (asprintf(name, "%" JSON_INTEGER_FORMAT, json_integer_value(id))
             < 0)
        *name = NULL;
    return *name ? 0 : es_no_memory(r->err);
}

static int read_manner(const struct reading *r,
                       uint32_t v,
                       const json_t *all,
                       const json_t *at)
{
    struct graph_work_task *t = &r->w->task[v];
    struct graph_manner m = {.argv = t->argv, .name = t->name};
    int rc = graph_manner_read(&m, all, at, r->path, r->err);

    t->argv = m.argv;
    t->timeout = m.timeout;
    t->retries = m.retries;
    return rc;
}

/* The keys under which a format has what. */
struct keys {
    const json_t *tasks;      /* as in the graph */
    const json_t *executions; /* by id, or NULL: the task itself */
    const char *inputs, *outputs;
};

static int read_task(const struct reading *r,
                     const json_t *all,
                     uint32_t v,
                     const struct keys *k)
{
    struct graph_work_task *t = &r->w->task[v];
    const json_t *task = json_array_get(k->tasks, v), *at = task;

    if (name_task(r, v) < 0)
        return -1;
    if (k->executions)
        at = json_object_get(k->executions, t->name);
    if (read_command(r, v, json_object_get(at, "command")) < 0
        || read_manner(r, v, all, at) < 0
        || read_names(r, v, k->inputs, json_object_get(task, k->inputs),
                      &t->input, &t->inputs)
               < 0)
        return -1;
    return read_names(r, v, k->outputs, json_object_get(task, k->outputs),
                      &t->output, &t->outputs);
}

static json_t *index_executions(const json_t *list)
{
    json_t *index = json_object();

    for (size_t i = 0; index && i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i);
        const char *id = json_string_value(json_object_get(item, "id"));

        if (id && json_object_set(index, id, item) < 0) {
            json_decref(index);
            return NULL;
        }
    }
    return index;
}

static int read_all(const struct reading *r, const json_t *all)
{
    const json_t *workflow = json_object_get(all, "workflow");
    const json_t *spec = json_object_get(workflow, "specification");
    struct keys k = {json_object_get(all, "tasks"), NULL, "inputs", "outputs"};
    json_t *executions = NULL;
    int rc = graph_manner_check(all, r->path, r->err);

    if (json_object_get(all, "rules"))
        k.tasks = json_object_get(all, "rules"); /* Makeflow's */
    if (workflow) {
        executions = index_executions(
            json_object_get(json_object_get(workflow, "execution"), "tasks"));
        if (!executions)
            return es_no_memory(r->err);
        k = (struct keys){json_object_get(spec, "tasks"), executions,
                          "inputFiles", "outputFiles"};
    }
    for (uint32_t v = 0; rc == 0 && v < r->w->tasks; v++)
        rc = read_task(r, all, v, &k);
    json_decref(executions);
    return rc == 0 ? check_files(r) : rc;
}

int graph_work_read(struct graph_work *w,
                    const char *path,
                    const struct graph_file *f,
                    struct es_error *err)
{
    struct reading r = {w, f, path, err};
    json_t *all = graph_text_json(path);
    int rc = -1;

    *w = (struct graph_work){.tasks = f->graph->tasks};
    w->task = calloc(w->tasks, sizeof *w->task);
    w->index = json_object();
    if (!w->task || !w->index || graph_wfold_update(all) < 0)
        (void)es_no_memory(r.err);
    else if (!all)
        es_fail(err, ES_USAGE,
                "give JSON, evenstep's own, WfCommons' or Makeflow's",
                "%s: has no commands", path);
    else
        rc = read_all(&r, all);
    json_decref(all);
    json_decref(w->index);
    w->index = NULL;
    if (rc < 0)
        graph_work_clear(w);
    return rc;
}

void graph_work_clear(struct graph_work *w)
{
    for (uint32_t v = 0; w->task && v < w->tasks; v++) {
        struct graph_work_task *t = &w->task[v];

        for (size_t i = 0; t->argv && t->argv[i]; i++)
            free(t->argv[i]);
        free(t->argv);
        free(t->name);
        free(t->input);
        free(t->output);
    }
    for (uint32_t i = 0; i < w->files; i++)
        free(w->file[i].name);
    free(w->task);
    free(w->file);
    *w = (struct graph_work){0};
}
