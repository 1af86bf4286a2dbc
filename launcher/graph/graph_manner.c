/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_manner.h"
#include "launcher/base/suggestion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RETRIES_MAX 1000
#define TIMEOUT_MAX 1e9
#define NUMBER_SIZE 40
#define LETTERS     "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* --- keys ----------------------------------------------------------------- */

static const char *const own_keys[] = {"tasks", "edges", "watts", NULL};
static const char *const task_keys[] = {
    "id",     "time", "command", "inputs",  "outputs", "cores",
    "memory", "env",  "timeout", "retries", NULL};
static const char *const edge_keys[] = {"from", "to", "comm", NULL};
static const char *const makeflow_keys[] = {
    "rules", "categories", "default_category", "environment", "define", NULL};
static const char *const rule_keys[] = {
    "command",     "inputs",    "outputs",   "resources",  "category",
    "environment", "local_job", "makeflow",  "allocation", "workflow",
    "define",      "args",      "arguments", NULL};

/* What has another name here, or no meaning. */
static const struct {
    const char *key, *mend;
} elsewhere[] = {
    {"cwd", "begin its command with `cd DIR && `"},
    {"workdir", "begin its command with `cd DIR && `"},
    {"environment", "call it env"},
};

static const char *mend_of(const char *key)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcmp(elsewhere[i].key, key) == 0)
            return elsewhere[i].mend;
    return "leave it out, or see Graph in evenstep-report(5)";
}

static int check_keys(const json_t *object,
                      const char *const known[],
                      const char *place,
                      const char *path,
                      struct es_error *err)
{
    struct suggestion s = {0};
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)object, key, value)
    {
        int is_known = 0;

        s = (struct suggestion){.typed = key};
        for (size_t i = 0; known[i]; i++) {
            is_known |= strcmp(known[i], key) == 0;
            suggestion_try(&s, known[i]);
        }
        if (is_known)
            continue;
        if (s.name)
            return es_fail(err, ES_USAGE, "correct it",
                           "%s: %s: unknown key \"%.60s\"; did you mean "
                           "\"%s\"?",
                           path, place, key, s.name);
        return es_fail(err, ES_USAGE, mend_of(key),
                       "%s: %s: unknown key \"%.60s\"", path, place, key);
    }
    return 0;
}

static int check_list(const json_t *all,
                      const char *list,
                      const char *const known[],
                      const char *path,
                      struct es_error *err)
{
    const json_t *items = json_object_get(all, list);
    char place[NUMBER_SIZE];

    for (size_t i = 0; i < json_array_size(items); i++) {
        snprintf(place, sizeof place, "%s[%zu]", list, i);
        if (check_keys(json_array_get(items, i), known, place, path, err) < 0)
            return -1;
    }
    return 0;
}

int graph_manner_check(const json_t *all,
                       const char *path,
                       struct es_error *err)
{
    if (json_object_get(all, "workflow"))
        return 0; /* WfCommons', with much that is about a run that was */
    if (json_object_get(all, "rules"))
        return check_keys(all, makeflow_keys, "rules", path, err) < 0
                   ? -1
                   : check_list(all, "rules", rule_keys, path, err);
    if (check_list(all, "tasks", task_keys, path, err) < 0
        || check_list(all, "edges", edge_keys, path, err) < 0)
        return -1;
    return check_keys(all, own_keys, "graph", path, err);
}

/* --- words ---------------------------------------------------------------- */

/* Put words before those that are there. */
static int put_before(struct graph_manner *t,
                      const json_t *words,
                      struct es_error *err)
{
    size_t n = json_array_size(words), m = 0;
    char **argv;

    while (t->argv[m])
        m++;
    argv = calloc(n + m + 1, sizeof *argv);
    for (size_t i = 0; argv && i < n; i++) {
        argv[i] = strdup(json_string_value(json_array_get(words, i)));
        if (argv[i])
            continue;
        while (i > 0)
            free(argv[--i]);
        free(argv);
        argv = NULL;
    }
    if (!argv)
        return es_no_memory(err);
    memcpy(argv + n, t->argv, m * sizeof *argv);
    free(t->argv);
    t->argv = argv;
    return 0;
}

static int bad(const struct graph_manner *t,
               const char *key,
               const char *mend,
               const char *what,
               const char *path,
               struct es_error *err)
{
    return es_fail(err, ES_USAGE, mend, "%s: task \"%.100s\": %s: %.200s", path,
                   t->name, key, what);
}

/* Numbers as they are written. */
static json_t *assignment(const char *name, const json_t *value)
{
    const char *text = json_string_value(value);
    char *number = text || !json_is_number(value)
                       ? NULL
                       : json_dumps(value, JSON_ENCODE_ANY);
    json_t *word = NULL;

    if (text || number)
        word = json_sprintf("%s=%s", name, text ? text : number);
    free(number);
    return word;
}

static int add_variable(const struct graph_manner *t,
                        json_t *words,
                        const char *key,
                        const char *name,
                        const json_t *value,
                        const char *path,
                        struct es_error *err)
{
    json_t *word = assignment(name, value);

    if (!word || !*name || !strchr(LETTERS, *name)
        || name[strspn(name, LETTERS "0123456789")]) {
        json_decref(word);
        return bad(t, key, "give names of variables with a text each", name,
                   path, err);
    }
    return json_array_append_new(words, word) < 0 ? es_no_memory(err) : 0;
}

static int add_environment(struct graph_manner *t,
                           json_t *env,
                           const char *key,
                           const char *path,
                           struct es_error *err)
{
    json_t *words = json_pack("[s]", "env");
    int rc = 0;

    for (void *at = json_object_iter(env); rc == 0 && at;
         at = json_object_iter_next(env, at))
        rc = add_variable(t, words, key, json_object_iter_key(at),
                          json_object_iter_value(at), path, err);
    if (rc == 0 && strchr(t->argv[0], '='))
        rc = bad(t, key, "call a program without = in its name", t->argv[0],
                 path, err);
    if (rc == 0 && json_array_size(words) > 1)
        rc = put_before(t, words, err);
    json_decref(words);
    return rc;
}

/* Of Makeflow: what a rule says goes before its category, that before all. */
static json_t *makeflow_environment(const json_t *all, const json_t *rule)
{
    const char *category = json_string_value(json_object_get(rule, "category"));
    json_t *env = json_object();

    if (!category)
        category = json_string_value(json_object_get(all, "default_category"));
    if (env)
        (void)json_object_update(env, json_object_get(all, "environment"));
    if (env && category)
        (void)json_object_update(
            env,
            json_object_get(
                json_object_get(json_object_get(all, "categories"), category),
                "environment"));
    if (env)
        (void)json_object_update(env, json_object_get(rule, "environment"));
    return env;
}

/* Of evenstep's own. */
static int read_limits(struct graph_manner *t,
                       const json_t *task,
                       const char *path,
                       struct es_error *err)
{
    const json_t *timeout = json_object_get(task, "timeout");
    const json_t *retries = json_object_get(task, "retries");
    char seconds[NUMBER_SIZE];
    json_t *words;
    int rc;

    if (retries
        && (!json_is_integer(retries) || json_integer_value(retries) < 0
            || json_integer_value(retries) > RETRIES_MAX))
        return bad(t, "retries", "give a whole number from 0 to 1000",
                   "out of range", path, err);
    if (retries)
        t->retries = json_integer_value(retries);
    if (!timeout)
        return 0;
    t->timeout = json_number_value(timeout);
    if (!(t->timeout > 0) || t->timeout > TIMEOUT_MAX)
        return bad(t, "timeout", "give seconds above 0, for example 600",
                   "out of range", path, err);
    snprintf(seconds, sizeof seconds, "%.9f", t->timeout);
    words = json_pack("[s,s,s,s]", "timeout", "-k", "5", seconds);
    rc = words ? put_before(t, words, err) : es_no_memory(err);
    json_decref(words);
    return rc;
}

int graph_manner_read(struct graph_manner *t,
                      const json_t *all,
                      const json_t *at,
                      const char *path,
                      struct es_error *err)
{
    const int is_rule = json_object_get(all, "rules") != NULL;
    const char *key =
        is_rule || json_object_get(all, "workflow") ? "environment" : "env";
    json_t *env = is_rule ? makeflow_environment(all, at)
                          : json_incref(json_object_get(at, key));
    int rc = 0;

    t->retries = -1;
    if (env && !json_is_object(env))
        rc = bad(t, key, "give an object, for example {\"NAME\": \"text\"}",
                 "no object", path, err);
    else if (env)
        rc = add_environment(t, env, key, path, err);
    else if (is_rule)
        rc = es_no_memory(err);
    json_decref(env);
    if (rc == 0 && strcmp(key, "env") == 0)
        rc = read_limits(t, at, path, err);
    return rc;
}
