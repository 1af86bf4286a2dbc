/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph_journal.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

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

int graph_journal_done(struct graph_journal *j,
                       const struct graph_work *w,
                       uint32_t task,
                       double seconds,
                       struct es_error *err)
{
    if (!j->kept)
        return 0;
    return record_log_add(&j->log,
                          json_pack("{s:s,s:s,s:f}", "type", "done", "task",
                                    w->task[task].name, "seconds", seconds),
                          err);
}

int graph_journal_delivered(struct graph_journal *j,
                            const struct graph_work *w,
                            uint32_t file,
                            struct es_error *err)
{
    if (!j->kept)
        return 0;
    return record_log_add(
        &j->log,
        json_pack("{s:s,s:s}", "type", "delivered", "file", w->file[file].name),
        err);
}

/* --- reading -------------------------------------------------------------- */

struct reading {
    const struct graph_journal *journal;
    const struct graph_work *w;
    const struct graph_journal_events *on;
    char *run;             /* its name */
    json_t *tasks, *files; /* numbers by name */
};

static int index_names(struct reading *r)
{
    const struct graph_work *w = r->w;
    int bad = !r->tasks || !r->files;

    for (uint32_t v = 0; !bad && v < w->tasks; v++)
        bad = json_object_set_new_nocheck(r->tasks, w->task[v].name,
                                          json_integer(v));
    for (uint32_t i = 0; !bad && i < w->files; i++)
        bad = json_object_set_new_nocheck(r->files, w->file[i].name,
                                          json_integer(i));
    return bad ? -1 : 0;
}

static void take_line(const struct reading *r, const json_t *line)
{
    const char *task = json_string_value(json_object_get(line, "task"));
    const char *file = json_string_value(json_object_get(line, "file"));
    const json_t *v = task ? json_object_get(r->tasks, task) : NULL;
    const json_t *f = file ? json_object_get(r->files, file) : NULL;

    if (v)
        r->on->done(r->on->arg, (uint32_t)json_integer_value(v),
                    json_number_value(json_object_get(line, "seconds")));
    if (f)
        r->on->delivered(r->on->arg, (uint32_t)json_integer_value(f));
}

/* The first line: is it of this graph?  Gives the name of the run. */
static enum record_verdict take_head(const struct reading *r,
                                     const json_t *line,
                                     struct es_error *err)
{
    const char *name = json_string_value(json_object_get(line, "run"));
    const char *graph = json_string_value(json_object_get(line, "graph"));
    char mine[17];

    fingerprint_text(r->w, mine);
    if (!name || !graph || strlen(name) >= GRAPH_RUN_NAME
        || strspn(name, "0123456789abcdef") != strlen(name) || !name[0])
        return RECORD_UNKNOWN;
    if (strcmp(graph, mine) != 0) {
        es_fail(err, ES_USAGE, "run it anew, with another journal",
                "--journal: %s: is of another graph, or its tasks have "
                "changed",
                r->journal->log.path);
        return RECORD_FAILED;
    }
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
    enum record_verdict v = RECORD_KEPT;

    if (at == 0)
        v = take_head(r, line, err);
    else
        take_line(r, line);
    json_decref(line);
    return v;
}

static int go_on(struct graph_journal *j,
                 const struct graph_work *w,
                 char run[GRAPH_RUN_NAME],
                 const struct graph_journal_events *on,
                 struct es_error *err)
{
    struct reading r = {j, w, on, run, json_object(), json_object()};
    int rc;

    if (index_names(&r) < 0)
        rc = es_fail(err, ES_ENV, "free some memory", "out of memory");
    else
        rc = record_log_read(&j->log, on_line, &r, err);
    json_decref(r.tasks);
    json_decref(r.files);
    return rc;
}

int graph_journal_open(struct graph_journal *j,
                       const char *path,
                       int resume,
                       const struct graph_work *w,
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
        return rc < 0 ? -1 : go_on(j, w, run, on, err);
    fingerprint_text(w, graph);
    return record_log_add(
        &j->log,
        json_pack("{s:s,s:s,s:s}", "type", "graph", "graph", graph, "run", run),
        err);
}

void graph_journal_close(struct graph_journal *j)
{
    if (j->kept)
        record_log_close(&j->log);
}
