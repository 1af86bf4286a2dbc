/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_work.h"
#include "launcher/base/suggestion.h"
#include "launcher/graph/graph_text.h"
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

/* The keys under which a format has what. */
struct keys {
    const json_t *tasks;      /* as in the graph */
    const json_t *executions; /* by id, or NULL: the task itself */
    const char *inputs, *outputs, *own_environment;
    const json_t *environment, *categories; /* Makeflow's, for many tasks */
    const struct known *known;              /* of a task; NULL: any */
};

/* --- keys ----------------------------------------------------------------- */

/* A key that there is, and what to do where it is not done; NULL: it is. */
struct known {
    const char *key, *mend;
};

static const struct known own_top[] = {
    {"tasks", NULL}, {"edges", NULL}, {"watts", NULL}, {NULL, NULL}};
static const struct known own_edge[] = {
    {"from", NULL}, {"to", NULL}, {"comm", NULL}, {NULL, NULL}};
static const struct known own_task[] = {
    {"id", NULL},
    {"time", NULL},
    {"cores", NULL},
    {"memory", NULL},
    {"command", NULL},
    {"inputs", NULL},
    {"outputs", NULL},
    {"env", NULL},
    {"cwd", "begin the command with cd: \"cd DIRECTORY && ...\""},
    {"timeout", "begin the command with timeout(1): \"timeout 60 ...\""},
    {"retries", "give graph run --retries N, for all tasks"},
    {NULL, NULL}};
static const struct known makeflow_rule[] = {
    {"command", NULL},   {"inputs", NULL},     {"outputs", NULL},
    {"category", NULL},  {"resources", NULL},  {"environment", NULL},
    {"local_job", NULL}, {"allocation", NULL}, {NULL, NULL}};

/* Is each key of an object one of those?  place: "m.json: task \"a\"". */
static int check_keys(const char *place,
                      const json_t *object,
                      const struct known *known,
                      struct es_error *err)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)object, key, value)
    {
        struct suggestion near = {.typed = key};
        const struct known *k = known;

        for (; k->key && strcmp(k->key, key) != 0; k++)
            suggestion_try(&near, k->key);
        if (k->key && !k->mend)
            continue;
        if (k->key)
            return es_fail(err, ES_USAGE, k->mend,
                           "%.250s: %s is not supported", place, key);
        return es_fail(err, ES_USAGE,
                       near.name ? "write it so" : "take it out, or mend it",
                       "%.250s: unknown key \"%.60s\"%s%s%s", place, key,
                       near.name ? ": did you mean \"" : "",
                       near.name ? near.name : "", near.name ? "\"" : "");
    }
    return 0;
}

static int check_task(const struct reading *r,
                      uint32_t v,
                      const json_t *task,
                      const struct known *known)
{
    char place[300];

    snprintf(place, sizeof place, "%.150s: task \"%.100s\"", r->path,
             r->w->task[v].name);
    return known ? check_keys(place, task, known, r->err) : 0;
}

static int check_own(const struct reading *r, const json_t *all)
{
    const json_t *edges = json_object_get(all, "edges");
    char place[200];

    if (check_keys(r->path, all, own_top, r->err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(edges); i++) {
        snprintf(place, sizeof place, "%.150s: edges[%zu]", r->path, i);
        if (check_keys(place, json_array_get(edges, i), own_edge, r->err) < 0)
            return -1;
    }
    return 0;
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

/* Makeflow's may have a name within the task that is another one. */
static const char *name_of(const json_t *file, const char **renamed)
{
    const char *name;

    *renamed = NULL;
    if (!json_is_object(file))
        return json_string_value(file);
    name = json_string_value(json_object_get(file, "dag_name"));
    *renamed = json_string_value(json_object_get(file, "task_name"));
    if (name && *renamed && strcmp(name, *renamed) == 0)
        *renamed = NULL;
    return name;
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
        const char *renamed;
        const char *name = name_of(json_array_get(list, i), &renamed);
        int64_t number;

        if (renamed)
            return bad(r, v, key,
                       "files are not renamed: take its dag_name in the "
                       "command, or begin that with mv or cp",
                       name ? name : "a task_name without a dag_name");
        if (!name || !graph_name_is_good(name))
            return bad(r, v, key, "give relative names, without \"..\"",
                       name ? name : "no name");
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

/* Words from texts of JSON, what is set before a command and it; NULL if one is none,
 * the command is empty, or memory ran out. */
static char **words_of(const json_t *set, const json_t *command)
{
    size_t before = json_array_size(set), n = before + json_array_size(command);
    char **argv = calloc(n + 1, sizeof *argv);
    size_t at = 0;

    for (; argv && at < n; at++) {
        const char *word = json_string_value(
            at < before ? json_array_get(set, at)
                        : json_array_get(command, at - before));

        argv[at] = word ? strdup(word) : NULL;
        if (!argv[at])
            break;
    }
    if (argv && at == n && n > before && argv[before][0])
        return argv;
    for (size_t i = 0; argv && i < at; i++)
        free(argv[i]);
    free(argv);
    return NULL;
}

/* env(1) sets what the task is to have in its environment, before the command. */
static int add_environment(const struct reading *r,
                           uint32_t v,
                           json_t *words,
                           const char *key,
                           const json_t *environment)
{
    const char *name;
    json_t *value;

    if (environment && !json_is_object(environment))
        return bad(r, v, key, "give names with texts, as {\"WORD\": \"hello\"}",
                   "is none");
    json_object_foreach(
        (json_t *)environment, name,
        value) if (!*name || strchr(name, '=')
                   || !json_is_string(
                       value)) return bad(r, v, key, "give names with texts",
                                          name);
    else if (json_array_append_new(
                 words, json_sprintf("%s=%s", name, json_string_value(value)))
             < 0) return es_no_memory(r->err);
    return 0;
}

/* What env(1) sets for the task; it stays empty if there is nothing to set. */
static int read_environment(const struct reading *r,
                            uint32_t v,
                            const json_t *task,
                            const json_t *at,
                            const struct keys *k,
                            json_t *set)
{
    const char *name = json_string_value(json_object_get(task, "category"));
    const json_t *category = name ? json_object_get(k->categories, name) : NULL;

    if (json_array_append_new(set, json_string("/usr/bin/env")) < 0)
        return es_no_memory(r->err);
    if (add_environment(r, v, set, "environment", k->environment) < 0
        || add_environment(r, v, set, "environment",
                           json_object_get(category, "environment"))
               < 0
        || add_environment(r, v, set, k->own_environment,
                           json_object_get(at, k->own_environment))
               < 0)
        return -1;
    return json_array_size(set) == 1 ? json_array_clear(set) : 0;
}

/* A list of words; a new reference, NULL if it is none. */
static json_t *command_words(json_t *c)
{
    const char *line = json_string_value(c);
    json_t *words = NULL;

    if (line && *line)
        return json_pack("[s,s,s]", "/bin/sh", "-c", line);
    if (!json_is_object(c))
        return json_is_array(c) ? json_incref(c) : NULL;
    words = json_pack("[O]", json_object_get(c, "program")); /* WfFormat's */
    if (words && json_is_array(json_object_get(c, "arguments")))
        (void)json_array_extend(words, json_object_get(c, "arguments"));
    return words;
}

static int read_command(const struct reading *r,
                        uint32_t v,
                        const json_t *task,
                        const json_t *at,
                        const struct keys *k)
{
    struct graph_work_task *t = &r->w->task[v];
    json_t *c = json_object_get(at, "command"), *words = command_words(c);
    json_t *set = json_array();
    int rc =
        set ? read_environment(r, v, task, at, k, set) : es_no_memory(r->err);

    if (rc == 0)
        t->argv = words_of(set, words);
    json_decref(words);
    json_decref(set);
    if (rc < 0 || t->argv)
        return rc;
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

static int read_task(const struct reading *r, uint32_t v, const struct keys *k)
{
    struct graph_work_task *t = &r->w->task[v];
    const json_t *task = json_array_get(k->tasks, v), *at = task;

    if (name_task(r, v) < 0)
        return -1;
    if (k->executions)
        at = json_object_get(k->executions, t->name);
    if (check_task(r, v, task, k->known) < 0
        || read_command(r, v, task, at, k) < 0
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
    struct keys k = {.tasks = json_object_get(all, "tasks"),
                     .inputs = "inputs",
                     .outputs = "outputs",
                     .own_environment = "env",
                     .known = own_task};
    json_t *executions = NULL;
    int rc = 0;

    if (workflow) {
        executions = index_executions(
            json_object_get(json_object_get(workflow, "execution"), "tasks"));
        if (!executions)
            return es_no_memory(r->err);
        k = (struct keys){.tasks = json_object_get(spec, "tasks"),
                          .executions = executions,
                          .inputs = "inputFiles",
                          .outputs = "outputFiles",
                          .own_environment = "environment"};
    } else if (json_object_get(all, "rules")) { /* Makeflow's */
        k.tasks = json_object_get(all, "rules");
        k.own_environment = "environment";
        k.environment = json_object_get(all, "environment");
        k.categories = json_object_get(all, "categories");
        k.known = makeflow_rule;
    } else {
        rc = check_own(r, all);
    }
    for (uint32_t v = 0; rc == 0 && v < r->w->tasks; v++)
        rc = read_task(r, v, &k);
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
    if (!w->task || !w->index)
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
