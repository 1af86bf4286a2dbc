/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph_journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <xxhash.h>

static int fail(const struct graph_journal *j, struct es_error *err)
{
    return es_fail(err, ES_WORK, "name a file that you may write",
                   "--journal: %s: %s", j->path, strerror(errno));
}

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

/* Takes over line.  On the disk before we go on: what another run relies on. */
static int append(struct graph_journal *j, json_t *line, struct es_error *err)
{
    int rc = 0;

    if (!line)
        return es_fail(err, ES_ENV, "free some memory", "out of memory");
    if (json_dumpf(line, j->file, JSON_COMPACT) < 0 || putc('\n', j->file) < 0
        || fflush(j->file) != 0 || fdatasync(fileno(j->file)) < 0)
        rc = fail(j, err);
    json_decref(line);
    return rc;
}

int graph_journal_done(struct graph_journal *j,
                       const struct graph_work *w,
                       uint32_t task,
                       double seconds,
                       struct es_error *err)
{
    if (!j->file)
        return 0;
    return append(j,
                  json_pack("{s:s,s:s,s:f}", "type", "done", "task",
                            w->task[task].name, "seconds", seconds),
                  err);
}

int graph_journal_delivered(struct graph_journal *j,
                            const struct graph_work *w,
                            uint32_t file,
                            struct es_error *err)
{
    if (!j->file)
        return 0;
    return append(
        j,
        json_pack("{s:s,s:s}", "type", "delivered", "file", w->file[file].name),
        err);
}

/* --- reading -------------------------------------------------------------- */

struct reader_of_lines {
    const struct graph_work *w;
    const struct graph_journal_events *on;
    json_t *tasks, *files; /* numbers by name */
};

static int index_names(struct reader_of_lines *r)
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

static void take_line(const struct reader_of_lines *r, const json_t *line)
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
static int take_head(const struct graph_journal *j,
                     const struct graph_work *w,
                     const json_t *line,
                     char run[GRAPH_RUN_NAME],
                     struct es_error *err)
{
    const char *name = json_string_value(json_object_get(line, "run"));
    const char *graph = json_string_value(json_object_get(line, "graph"));
    char mine[17];

    fingerprint_text(w, mine);
    if (!name || !graph || strlen(name) >= GRAPH_RUN_NAME
        || strspn(name, "0123456789abcdef") != strlen(name) || !name[0])
        return es_fail(err, ES_USAGE, "give the journal of a run before",
                       "--journal: %s: is no journal of a graph", j->path);
    if (strcmp(graph, mine) != 0)
        return es_fail(err, ES_USAGE, "run it anew, with another journal",
                       "--journal: %s: is of another graph, or its tasks have "
                       "changed",
                       j->path);
    strcpy(run, name);
    return 0;
}

/* Hear every whole line; *end is where the last one ends. */
static int read_lines(struct graph_journal *j,
                      const struct reader_of_lines *r,
                      char run[GRAPH_RUN_NAME],
                      off_t *end,
                      struct es_error *err)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t len;
    int lines = 0, rc = 0;

    *end = 0;
    while (rc == 0 && (len = getline(&text, &room, j->file)) > 0) {
        json_t *line = text[len - 1] == '\n' ? json_loads(text, 0, NULL) : NULL;

        if (!line)
            break;
        if (lines++ == 0)
            rc = take_head(j, r->w, line, run, err);
        else
            take_line(r, line);
        *end += len;
        json_decref(line);
    }
    free(text);
    if (rc == 0 && lines == 0)
        rc = take_head(j, r->w, NULL, run, err);
    return rc;
}

static int go_on(struct graph_journal *j,
                 const struct graph_work *w,
                 char run[GRAPH_RUN_NAME],
                 const struct graph_journal_events *on,
                 struct es_error *err)
{
    struct reader_of_lines r = {w, on, json_object(), json_object()};
    off_t end = 0;
    int rc;

    if (index_names(&r) < 0)
        rc = es_fail(err, ES_ENV, "free some memory", "out of memory");
    else
        rc = read_lines(j, &r, run, &end, err);
    if (rc == 0
        && (fseeko(j->file, end, SEEK_SET) < 0
            || ftruncate(fileno(j->file), end) < 0))
        rc = fail(j, err);
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

    *j = (struct graph_journal){.path = path};
    if (!path)
        return 0;
    j->file = fopen(path, resume ? "r+e" : "wxe");
    if (!j->file && !resume && errno == EEXIST)
        return es_fail(err, ES_USAGE, "go on with --resume, or name another",
                       "--journal: %s: is there already", path);
    if (!j->file)
        return fail(j, err);
    if (flock(fileno(j->file), LOCK_EX | LOCK_NB) < 0)
        return es_fail(err, ES_USAGE, "wait for its end",
                       "--journal: %s: another run keeps it", j->path);
    if (resume)
        return go_on(j, w, run, on, err);
    fingerprint_text(w, graph);
    return append(
        j,
        json_pack("{s:s,s:s,s:s}", "type", "graph", "graph", graph, "run", run),
        err);
}

void graph_journal_close(struct graph_journal *j)
{
    if (j->file)
        (void)fclose(j->file); /* each line was flushed */
    j->file = NULL;
}
