/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_import.h"
#include "launcher/base/out_file.h"
#include "launcher/base/plain_text.h"
#include "launcher/graph/graph_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All that there is to say. */
struct import {
    const struct graph_file *f;
    const struct graph_times *times; /* NULL: none */
    const char *path;
    struct graph_work work; /* empty: it cannot be run */
    char reason[600];       /* why not, as plain text */
    uint32_t unused, comms, needs;
    char *first; /* row of the times that no task has taken, as plain text */
};

static int look(struct import *x, struct es_error *err)
{
    const struct graph *g = x->f->graph;
    struct es_error why = {0};

    for (uint32_t i = 0; x->times && i < x->times->rows; i++)
        if (!x->times->row[i].is_used && x->unused++ == 0)
            x->first = plain_text_new(x->times->row[i].name);
    for (uint32_t i = 0; i < g->edges; i++)
        x->comms += g->pred[i].comm > 0;
    for (uint32_t v = 0; g->need && v < g->tasks; v++)
        x->needs += g->need[v].cores > 1 || g->need[v].memory > 0;
    if (graph_work_read(&x->work, x->path, x->f, &why) < 0)
        plain_text(x->reason, sizeof x->reason, why.what);
    return x->unused > 0 && !x->first ? es_no_memory(err) : 0;
}

/* Tasks whose time is their own. */
static uint32_t own_times(const struct import *x)
{
    const struct graph_understood *u = &x->f->understood;

    return x->f->graph->tasks - u->guessed_kind - u->guessed_all
           - u->guessed_given - u->targets;
}

/* --- for people ----------------------------------------------------------- */

static void count(const char *before, uint32_t n, const char *what)
{
    if (n > 0)
        printf("%s%u %s", before, n, what);
}

static void print_edges(const struct import *x)
{
    const struct graph_understood *u = &x->f->understood;

    printf("edges     %u: %u with communication", x->f->graph->edges, x->comms);
    count(", ", u->by_tag, "between tasks of a tag");
    count(", ", u->by_all,
          "from all tasks of a process to all of the next, "
          "which may be too many");
    putchar('\n');
}

static void print_ignored(const struct import *x)
{
    const struct graph_understood *u = &x->f->understood;

    count("passed    ", u->passed, "nodes without a task\n");
    count("done      ", u->done,
          "tasks, says the file; they count as to be "
          "done\n");
    if (x->times)
        count("ignored   ", x->times->failed, "tries that failed\n");
    if (x->unused > 0)
        printf("ignored   %u times of no task of the graph, first that of "
               "\"%s\"\n",
               x->unused, x->first);
}

static void print_text(const struct import *x)
{
    const struct graph_understood *u = &x->f->understood;

    printf("format    %s\n", u->format);
    printf("tasks     %u: %u with a time of their own", x->f->graph->tasks,
           own_times(x));
    count(", ", u->guessed_kind, "guessed: the mean of those alike");
    count(", ", u->guessed_given, "guessed: --guess");
    count(", ", u->guessed_all, "guessed: the mean of all");
    count(", ", u->targets, "that do nothing");
    putchar('\n');
    print_edges(x);
    count("needs     ", x->needs, "tasks need several cores, or memory\n");
    print_ignored(x);
    if (x->reason[0])
        printf("commands  none: %s\n", x->reason);
    else
        printf("commands  %u: graph run can run it\n", x->f->graph->tasks);
}

/* --- for programs --------------------------------------------------------- */

static int print_json(const struct import *x)
{
    const struct graph_understood *u = &x->f->understood;
    json_t *all = json_pack(
        "{s:s, s:i, s:{s:i, s:i, s:i, s:i, s:i}, s:i, s:i, s:i, s:i, s:i, s:i, "
        "s:i, s:i, s:i, s:b}",
        "format", u->format, "tasks", (int)x->f->graph->tasks, "times", "own",
        (int)own_times(x), "alike", (int)u->guessed_kind, "given",
        (int)u->guessed_given, "mean", (int)u->guessed_all, "nothing",
        (int)u->targets, "edges", (int)x->f->graph->edges, "communications",
        (int)x->comms, "by_tag", (int)u->by_tag, "by_all", (int)u->by_all,
        "needs", (int)x->needs, "passed", (int)u->passed, "done", (int)u->done,
        "failed", x->times ? (int)x->times->failed : 0, "unused",
        (int)x->unused, "commands", x->reason[0] == '\0');
    int rc = all ? json_dumpf(all, stdout, JSON_COMPACT) : -1;

    json_decref(all);
    putchar('\n');
    return rc;
}

/* --- evenstep's own ------------------------------------------------------- */

static double seconds(int64_t ns)
{
    return (double)ns / GRAPH_NS_PER_S;
}

/* The line for the shell, if it is one, else the words. */
static json_t *command_of(const struct graph_work_task *t)
{
    json_t *words;

    if (strcmp(t->argv[0], "/bin/sh") == 0 && t->argv[1]
        && strcmp(t->argv[1], "-c") == 0 && t->argv[2] && !t->argv[3])
        return json_string(t->argv[2]);
    words = json_array();
    for (char **word = t->argv; *word; word++)
        if (json_array_append_new(words, json_string(*word)) < 0) {
            json_decref(words);
            return NULL;
        }
    return words;
}

static json_t *names_of(const struct graph_work *w,
                        const uint32_t file[],
                        uint32_t n)
{
    json_t *names = json_array();

    for (uint32_t i = 0; names && i < n; i++)
        if (json_array_append_new(names, json_string(w->file[file[i]].name))
            < 0) {
            json_decref(names);
            return NULL;
        }
    return names;
}

static int write_need(json_t *task, const struct graph_need *need)
{
    int bad = 0;

    if (need->cores > 1)
        bad = json_object_set_new(task, "cores", json_integer(need->cores));
    if (need->memory > 0)
        bad |= json_object_set_new(task, "memory",
                                   json_integer((json_int_t)need->memory));
    return bad;
}

static int write_task(const struct import *x, json_t *tasks, uint32_t v)
{
    const struct graph *g = x->f->graph;
    const struct graph_work_task *t = x->reason[0] ? NULL : &x->work.task[v];
    json_t *task = json_object();
    int bad =
        json_object_set(task, "id", json_array_get(x->f->ids, v))
        | json_object_set_new(task, "time", json_real(seconds(g->time[v])));

    if (g->need)
        bad |= write_need(task, &g->need[v]);
    if (t)
        bad |= json_object_set_new(task, "command", command_of(t))
               | json_object_set_new(task, "inputs",
                                     names_of(&x->work, t->input, t->inputs))
               | json_object_set_new(task, "outputs",
                                     names_of(&x->work, t->output, t->outputs));
    if (t && t->retries >= 0)
        bad |= json_object_set_new(task, "retries", json_integer(t->retries));
    return json_array_append_new(tasks, task) | bad;
}

static int write_edges(const struct import *x, json_t *edges)
{
    const struct graph *g = x->f->graph;
    int bad = 0;

    for (uint32_t v = 0; v < g->tasks; v++)
        for (uint32_t i = g->pred_at[v]; i < g->pred_at[v + 1]; i++)
            bad |= json_array_append_new(
                edges, json_pack("{s:O, s:O, s:f}", "from",
                                 json_array_get(x->f->ids, g->pred[i].task),
                                 "to", json_array_get(x->f->ids, v), "comm",
                                 seconds(g->pred[i].comm)));
    return bad;
}

static int print_graph(FILE *out, const void *arg)
{
    return json_dumpf(arg, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) < 0
                   || putc('\n', out) == EOF
               ? -1
               : 0;
}

static int write_to(const struct import *x,
                    const char *to,
                    struct es_error *err)
{
    json_t *tasks = json_array(), *edges = json_array();
    json_t *all = json_pack("{s:o, s:o}", "tasks", tasks, "edges", edges);
    int bad = all ? write_edges(x, edges) : -1, rc;

    for (uint32_t v = 0; !bad && v < x->f->graph->tasks; v++)
        bad = write_task(x, tasks, v);
    rc = bad ? es_no_memory(err)
             : out_file_write("--to", to, print_graph, all, err);
    json_decref(all);
    return rc;
}

int graph_import(const struct graph_file *f,
                 const struct graph_reading *how,
                 const char *path,
                 const char *to,
                 int json,
                 struct es_error *err)
{
    struct import x = {.f = f, .times = how->times, .path = path};
    int rc = look(&x, err);

    if (rc == 0 && json)
        rc = print_json(&x) < 0 ? es_no_memory(err) : 0;
    else if (rc == 0 && (!to || strcmp(to, "-") != 0))
        print_text(&x);
    if (rc == 0 && (ferror(stdout) || fflush(stdout) != 0))
        rc = es_no_space(err);
    if (rc == 0 && to)
        rc = write_to(&x, to, err);
    graph_work_clear(&x.work);
    free(x.first);
    return rc;
}
