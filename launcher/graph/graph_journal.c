/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define VERSION 2 /* 1 had neither sizes nor digests */

/* --- which graph ---------------------------------------------------------- */

static uint64_t add(uint64_t sum, const char *text)
{
    return XXH3_64bits_withSeed(text, strlen(text) + 1, sum);
}

/* Of all that a task does and takes; not of times, which are learnt. */
static uint64_t fingerprint(const struct graph_work *w)
{
    uint64_t sum = w->tasks;

    for (uint32_t v = 0; v < w->tasks; v++) {
        const struct graph_work_task *t = &w->task[v];

        sum = add(sum, t->name);
        for (size_t i = 0; t->argv[i]; i++)
            sum = add(sum, t->argv[i]);
        for (uint32_t i = 0; i < t->inputs; i++)
            sum = add(sum, w->file[t->input[i]].name);
        sum = add(sum, "");
        for (uint32_t i = 0; i < t->outputs; i++)
            sum = add(sum, w->file[t->output[i]].name);
    }
    return sum;
}

static void fingerprint_text(const struct graph_work *w, char text[17])
{
    snprintf(text, 17, "%016jx", (uintmax_t)fingerprint(w));
}

/* --- writing -------------------------------------------------------------- */

static json_t *made_json(const struct exchange_file *made)
{
    char hex[FILE_DIGEST_HEX];

    file_digest_to_hex(&made->digest, hex);
    return json_pack("[I,s]", (json_int_t)made->bytes, hex);
}

int graph_journal_done(struct graph_journal *j,
                       const struct graph_work *w,
                       uint32_t task,
                       double seconds,
                       const struct exchange_file made[],
                       struct es_error *err)
{
    json_t *all = j->kept ? json_array() : NULL;
    int bad = 0;

    if (!j->kept)
        return 0;
    for (uint32_t i = 0; i < w->task[task].outputs; i++)
        bad |= json_array_append_new(all, made_json(&made[i])) < 0;
    if (bad) { /* no memory: record_log_add() is told by NULL */
        json_decref(all);
        all = NULL;
    }
    return record_log_add(&j->log,
                          json_pack("{s:s,s:s,s:f,s:o}", "type", "done", "task",
                                    w->task[task].name, "seconds", seconds,
                                    "outputs", all),
                          err);
}

int graph_journal_delivered(struct graph_journal *j,
                            const struct graph_work *w,
                            uint32_t file,
                            const struct exchange_file *made,
                            struct es_error *err)
{
    if (!j->kept)
        return 0;
    return record_log_add(&j->log,
                          json_pack("{s:s,s:s,s:o}", "type", "delivered",
                                    "file", w->file[file].name, "made",
                                    made_json(made)),
                          err);
}

static json_t *inputs_json(const struct graph_work *w,
                           const struct graph_input input[])
{
    json_t *all = json_array();

    for (uint32_t i = 0; all && i < w->files; i++)
        if (w->file[i].maker == GRAPH_NOBODY
            && json_array_append_new(
                   all, json_pack("[I,I]", (json_int_t)input[i].bytes,
                                  (json_int_t)input[i].mtime_ns))
                   < 0) {
            json_decref(all);
            return NULL;
        }
    return all;
}

/* --- reading -------------------------------------------------------------- */

struct reading {
    const struct graph_journal *journal;
    const struct graph_work *w;
    const struct graph_input *input;
    const struct graph_journal_events *on;
    char *run;                  /* its name */
    json_t *tasks, *files;      /* numbers by name */
    struct exchange_file *made; /* room for the outputs of a task */
};

static int index_names(struct reading *r)
{
    const struct graph_work *w = r->w;
    int bad = !r->tasks || !r->files || !r->made;

    for (uint32_t v = 0; !bad && v < w->tasks; v++)
        bad = json_object_set_new_nocheck(r->tasks, w->task[v].name,
                                          json_integer(v));
    for (uint32_t i = 0; !bad && i < w->files; i++)
        bad = json_object_set_new_nocheck(r->files, w->file[i].name,
                                          json_integer(i));
    return bad ? -1 : 0;
}

static int take_made(struct exchange_file *made, const json_t *line)
{
    const json_t *bytes = json_array_get(line, 0);
    const char *hex = json_string_value(json_array_get(line, 1));

    *made = (struct exchange_file){0};
    if (!json_is_integer(bytes) || json_integer_value(bytes) < 0 || !hex)
        return -1;
    made->bytes = (uint64_t)json_integer_value(bytes);
    return file_digest_from_hex(&made->digest, hex);
}

static int take_done(const struct reading *r, uint32_t task, const json_t *line)
{
    const json_t *all = json_object_get(line, "outputs");
    const json_t *seconds = json_object_get(line, "seconds");
    uint32_t n = r->w->task[task].outputs;

    if (json_array_size(all) != n || !json_is_number(seconds)
        || json_number_value(seconds) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        if (take_made(&r->made[i], json_array_get(all, i)) < 0)
            return -1;
    r->on->done(r->on->arg, task, json_number_value(seconds), r->made);
    return 0;
}

static enum record_verdict take_line(const struct reading *r,
                                     const json_t *line)
{
    const char *task = json_string_value(json_object_get(line, "task"));
    const char *file = json_string_value(json_object_get(line, "file"));
    const json_t *v = task ? json_object_get(r->tasks, task) : NULL;
    const json_t *f = file ? json_object_get(r->files, file) : NULL;

    if (v && take_done(r, (uint32_t)json_integer_value(v), line) == 0)
        return RECORD_KEPT;
    if (!f || take_made(r->made, json_object_get(line, "made")) < 0)
        return RECORD_UNKNOWN;
    r->on->delivered(r->on->arg, (uint32_t)json_integer_value(f), r->made);
    return RECORD_KEPT;
}

/* The first of the inputs that is not what it was; NULL: all are. */
static const char *changed_input(const struct reading *r, const json_t *all)
{
    size_t at = 0;

    for (uint32_t i = 0; i < r->w->files; i++) {
        const json_t *was;

        if (r->w->file[i].maker != GRAPH_NOBODY)
            continue;
        was = json_array_get(all, at++);
        if ((uint64_t)json_integer_value(json_array_get(was, 0))
                != r->input[i].bytes
            || json_integer_value(json_array_get(was, 1))
                   != r->input[i].mtime_ns)
            return r->w->file[i].name;
    }
    return NULL;
}

static enum record_verdict refuse(const struct reading *r,
                                  const char *what,
                                  const char *name,
                                  struct es_error *err)
{
    es_fail(err, ES_USAGE, "run it anew, with another journal",
            "--journal: %s: %s%.500s", r->journal->log.path, what, name);
    return RECORD_FAILED;
}

static enum record_verdict refuse_version(const struct reading *r,
                                          json_int_t version,
                                          struct es_error *err)
{
    es_fail(err, ES_USAGE,
            version > VERSION
                ? "resume with that evenstep, or give another file"
                : "run it anew, with another journal",
            "--journal: %s: is of version %" JSON_INTEGER_FORMAT
            ", of %s evenstep; this one reads %d",
            r->journal->log.path, version,
            version > VERSION ? "a later" : "an earlier", VERSION);
    return RECORD_FAILED;
}

/* The first line: is it of this graph?  Gives the name of the run. */
static enum record_verdict take_head(const struct reading *r,
                                     const json_t *line,
                                     struct es_error *err)
{
    const char *name = json_string_value(json_object_get(line, "run"));
    const char *graph = json_string_value(json_object_get(line, "graph"));
    /* the first one did not say it */
    const json_t *said = json_object_get(line, "version");
    json_int_t version = said ? json_integer_value(said) : 1;
    const char *changed;
    char mine[17];

    fingerprint_text(r->w, mine);
    if (!name || !graph || strlen(name) >= GRAPH_RUN_NAME
        || strspn(name, "0123456789abcdef") != strlen(name) || !name[0])
        return RECORD_UNKNOWN;
    if (version != VERSION)
        return refuse_version(r, version, err);
    if (strcmp(graph, mine) != 0)
        return refuse(r, "is of another graph, or its tasks have changed", "",
                      err);
    changed = changed_input(r, json_object_get(line, "inputs"));
    if (changed)
        return refuse(r, "since it was begun an input has changed: ", changed,
                      err);
    strcpy(r->run, name);
    return RECORD_KEPT;
}

static enum record_verdict on_line(void *arg,
                                   const char *text,
                                   int64_t at,
                                   struct es_error *err)
{
    const struct reading *r = arg;
    json_t *line = json_loads(text, 0, NULL);
    enum record_verdict v =
        at == 0 ? take_head(r, line, err) : take_line(r, line);

    json_decref(line);
    return v;
}

static uint32_t most_outputs(const struct graph_work *w)
{
    uint32_t most = 1;

    for (uint32_t v = 0; v < w->tasks; v++)
        if (w->task[v].outputs > most)
            most = w->task[v].outputs;
    return most;
}

static int go_on(struct graph_journal *j,
                 const struct graph_work *w,
                 const struct graph_input input[],
                 char run[GRAPH_RUN_NAME],
                 const struct graph_journal_events *on,
                 struct es_error *err)
{
    struct reading r = {.journal = j,
                        .w = w,
                        .input = input,
                        .on = on,
                        .run = run,
                        .tasks = json_object(),
                        .files = json_object(),
                        .made = calloc(most_outputs(w), sizeof *r.made)};
    int rc;

    if (index_names(&r) < 0)
        rc = es_no_memory(err);
    else
        rc = record_log_read(&j->log, on_line, &r, err);
    json_decref(r.tasks);
    json_decref(r.files);
    free(r.made);
    return rc;
}

int graph_journal_open(struct graph_journal *j,
                       const char *path,
                       int resume,
                       const struct graph_work *w,
                       const struct graph_input input[],
                       char run[GRAPH_RUN_NAME],
                       const struct graph_journal_events *on,
                       struct es_error *err)
{
    char graph[17];
    int rc;

    *j = (struct graph_journal){.log.fd = -1, .kept = path != NULL};
    if (!path)
        return 0;
    rc = record_log_open(&j->log, path, resume, err);
    if (rc != 0)
        return rc < 0 ? -1 : go_on(j, w, input, run, on, err);
    fingerprint_text(w, graph);
    return record_log_add(&j->log,
                          json_pack("{s:s,s:i,s:s,s:s,s:o}", "type", "graph",
                                    "version", VERSION, "graph", graph, "run",
                                    run, "inputs", inputs_json(w, input)),
                          err);
}

void graph_journal_close(struct graph_journal *j)
{
    if (j->kept)
        record_log_close(&j->log);
}
