/* SPDX-License-Identifier: BSD-2-Clause */
/* Read by libcgraph, the parser of Graphviz. */
#include "launcher/base/number.h"
#include "launcher/graph/graph_dot_node.h"
#include "launcher/graph/graph_format.h"
#include "launcher/graph/graph_guess.h"
#include "launcher/graph/graph_snakemake.h"

#include <graphviz/cgraph.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- graph nextflow ------------------------------------------------------------ */

/* What `nextflow -with-dag FILE.dot` writes. */

/*
 * The graph has processes, the trace has tasks: "PROCESS (tag)".  Between
 * processes are operators and channels, and processes that this run had no task
 * of: what they connect is connected.
 */

#define NODES_MAX 65536
#define NAME_MAX_ 1024
#define PLACE     "node"

struct process {
    const char *label; /* NULL: no process */
    json_t *tasks;     /* numbers */
    json_t *tags;      /* the tasks of each tag: lists of numbers */
    uint32_t stamp;    /* the last process that it was reached from, and 1 */
};

struct flow {
    struct graph_draft *d;
    const struct graph_reading *how;
    Agnode_t **node;
    struct process *process; /* by node */
    uint32_t nodes, *stack;
    json_t *index; /* node by a process' name, and by its last part; null: of
                      several */
    struct graph_timing timing;
    struct es_error *err;
};

/* --- processes ------------------------------------------------------------ */

/* Behind the workflows that it is in: A:B:C is C. */
static const char *last_part(const char *name)
{
    const char *colon = strrchr(name, ':');

    return colon ? colon + 1 : name;
}

static int enter_process(struct flow *f, uint32_t v)
{
    struct process *p = &f->process[v];
    const char *last = last_part(p->label);
    int bad;

    p->tasks = json_array();
    p->tags = json_object();
    if (!p->tasks || !p->tags)
        return es_no_memory(f->err);
    bad = json_object_set_new(f->index, p->label, json_integer(v));
    if (last != p->label)
        bad |= json_object_get(f->index, last)
                   ? json_object_set_new(f->index, last, json_null())
                   : json_object_set_new(f->index, last, json_integer(v));
    if (!bad)
        return 0;
    return draft_fail(f->d, PLACE, "give a text in UTF-8", "a label is no text",
                      f->err);
}

static int read_processes(struct flow *f, Agraph_t *g)
{
    uint32_t v = 0;

    for (Agnode_t *at = agfstnode(g); at; at = agnxtnode(g, at), v++) {
        const char *label = dot_text(at, "label");

        f->node[v] = at;
        if (*dot_text(at, "shape") || *dot_text(at, "xlabel") || !*label
            || strcmp(label, "\\N") == 0)
            f->d->understood.passed++;
        else {
            f->process[v].label = label;
            if (enter_process(f, v) < 0)
                return -1;
        }
    }
    return 0;
}

/* --- tasks ---------------------------------------------------------------- */

/* "PROCESS (tag)" in two; a tag that only counts is none. */
static void split_name(const char *name,
                       char process[NAME_MAX_],
                       char tag[NAME_MAX_])
{
    const char *open = strstr(name, " ("), *close = strrchr(name, ')');

    snprintf(process, NAME_MAX_, "%.*s",
             open ? (int)(open - name) : NAME_MAX_ - 1, name);
    tag[0] = '\0';
    if (open && close && close > open + 2)
        snprintf(tag, NAME_MAX_, "%.*s", (int)(close - open - 2), open + 2);
    if (strspn(tag, "0123456789") == strlen(tag))
        tag[0] = '\0';
}

/* The node of a process by its name in the trace, or GRAPH_NOBODY. */
static uint32_t find_process(const struct flow *f, const char *name)
{
    const json_t *v = json_object_get(f->index, name);

    if (!v)
        v = json_object_get(f->index, last_part(name));
    return json_is_integer(v) ? (uint32_t)json_integer_value(v) : GRAPH_NOBODY;
}

static int add_tag(struct flow *f,
                   struct process *p,
                   const char *tag,
                   uint32_t v)
{
    json_t *list = json_object_get(p->tags, tag);

    if (!*tag)
        return 0;
    if (!list) {
        list = json_array();
        if (json_object_set_new(p->tags, tag, list) < 0)
            return draft_fail(f->d, PLACE, "give a text in UTF-8",
                              "a tag is no text", f->err);
    }
    return json_array_append_new(list, json_integer(v)) < 0
               ? es_no_memory(f->err)
               : 0;
}

static int add_task(struct flow *f,
                    uint32_t node,
                    const char *name,
                    const char *tag,
                    const struct graph_time *row)
{
    uint32_t v = (uint32_t)json_array_size(f->d->ids);
    json_t *id = json_string(name);
    int rc = draft_task(f->d, PLACE, id, 0, f->err);

    json_decref(id);
    if (rc < 0)
        return -1;
    f->timing.kind[v] = node;
    f->timing.seconds[v] = row ? row->seconds : -1;
    if (json_array_append_new(f->process[node].tasks, json_integer(v)) < 0)
        return es_no_memory(f->err);
    if (row && draft_need(f->d, PLACE, row->cores, row->memory, f->err) < 0)
        return -1;
    return add_tag(f, &f->process[node], tag, v);
}

static int read_trace(struct flow *f)
{
    char process[NAME_MAX_], tag[NAME_MAX_];
    const struct graph_times *t = f->how->times;

    for (uint32_t i = 0; i < t->rows; i++) {
        struct graph_time *row = &t->row[i];
        uint32_t node;

        split_name(row->name, process, tag);
        node = find_process(f, process);
        if (node == GRAPH_NOBODY)
            continue;
        row->is_used = 1;
        if (add_task(f, node, row->name, tag, row) < 0)
            return -1;
    }
    if (json_array_size(f->d->ids) > 0)
        return 0;
    return es_fail(f->err, ES_USAGE, "give the trace of a run of this graph",
                   "%s: the trace names no process of the graph", f->d->name);
}

static int make_tasks(struct flow *f)
{
    if (f->how->times)
        return read_trace(f);
    for (uint32_t v = 0; v < f->nodes; v++)
        if (f->process[v].label
            && add_task(f, v, f->process[v].label, "", NULL) < 0)
            return -1;
    return 0;
}

/* --- edges ---------------------------------------------------------------- */

static int link_one(struct flow *f, const json_t *before, uint32_t v)
{
    for (size_t i = 0; i < json_array_size(before); i++)
        if (draft_edge(f->d, PLACE,
                       (uint32_t)json_integer_value(json_array_get(before, i)),
                       v, 0, f->err)
            < 0)
            return -1;
    return 0;
}

/* Each task of q waits for those of p that have its tag, or for all. */
static int link_processes(struct flow *f, uint32_t p, uint32_t q)
{
    struct graph_understood *u = &f->d->understood;
    const json_t *tasks = f->process[q].tasks;
    char process[NAME_MAX_], tag[NAME_MAX_];

    for (size_t i = 0; i < json_array_size(tasks); i++) {
        uint32_t v = (uint32_t)json_integer_value(json_array_get(tasks, i));
        const json_t *same;
        uint32_t edges = f->d->edges;

        split_name(json_string_value(json_array_get(f->d->ids, v)), process,
                   tag);
        same = *tag ? json_object_get(f->process[p].tags, tag) : NULL;
        if (link_one(f, same ? same : f->process[p].tasks, v) < 0)
            return -1;
        *(same ? &u->by_tag : &u->by_all) += f->d->edges - edges;
    }
    return 0;
}

static int has_tasks(const struct flow *f, uint32_t v)
{
    return f->process[v].tasks && json_array_size(f->process[v].tasks) > 0;
}

/* To all processes that p leads to, through what has no tasks. */
static int link_from(struct flow *f, Agraph_t *g, uint32_t p)
{
    uint32_t n = 0;

    f->stack[n++] = p;
    f->process[p].stamp = p + 1;
    while (n > 0) {
        uint32_t v = f->stack[--n];

        for (Agedge_t *e = agfstout(g, f->node[v]); e; e = agnxtout(g, e)) {
            uint32_t w = dot_number(aghead(e));

            if (f->process[w].stamp == p + 1)
                continue; /* seen; p itself may be fed by its earlier tasks */
            f->process[w].stamp = p + 1;
            if (!has_tasks(f, w))
                f->stack[n++] = w;
            else if (link_processes(f, p, w) < 0)
                return -1;
        }
    }
    return 0;
}

static int read_edges(struct flow *f, Agraph_t *g)
{
    for (uint32_t v = 0; v < f->nodes; v++)
        if (has_tasks(f, v) && link_from(f, g, v) < 0)
            return -1;
        else if (f->process[v].label && !has_tasks(f, v))
            f->d->understood.passed++;
    return 0;
}

/* --- all ------------------------------------------------------------------ */

static int open_flow(struct flow *f, Agraph_t *g)
{
    uint32_t rows = f->how->times ? f->how->times->rows : 0;

    f->nodes = dot_number_nodes(g);
    if (f->nodes > NODES_MAX)
        return draft_fail(f->d, "graph", "give at most 65536", "too many nodes",
                          f->err);
    f->node = calloc(f->nodes + (size_t)1, sizeof(Agnode_t *));
    f->process = calloc(f->nodes + (size_t)1, sizeof *f->process);
    f->stack = calloc(f->nodes + (size_t)1, sizeof *f->stack);
    f->index = json_object();
    if (!f->node || !f->process || !f->stack || !f->index
        || graph_timing_init(&f->timing, rows + f->nodes) < 0)
        return es_no_memory(f->err);
    f->timing.kinds = f->nodes;
    return 0;
}

static void clear(struct flow *f)
{
    for (uint32_t v = 0; f->process && v < f->nodes; v++) {
        json_decref(f->process[v].tasks);
        json_decref(f->process[v].tags);
    }
    free(f->node);
    free(f->process);
    free(f->stack);
    json_decref(f->index);
    graph_timing_clear(&f->timing);
}

/*
 * nextflow -with-dag FILE.dot: a node for each process, and others between them.
 * The tasks are those of the trace; where two processes have the same tags, each
 * task waits for that of its tag, else for all.  Without a trace each process is
 * one task.
 */
static int graph_read_nextflow(struct graph_draft *d,
                               Agraph_t *g,
                               const struct graph_reading *how,
                               struct es_error *err)
{
    struct flow f = {.d = d, .how = how, .err = err};
    int rc = -1;

    d->understood.format = "Nextflow's -with-dag";
    if (open_flow(&f, g) == 0 && read_processes(&f, g) == 0
        && make_tasks(&f) == 0 && read_edges(&f, g) == 0)
        rc = graph_guess(d, &f.timing, how, err);
    clear(&f);
    return rc;
}

/* --- graph dot ----------------------------------------------------------------- */

#define KEY_MAX   16
#define PLACE_MAX 200
#define TEXT_MAX  100 /* of what the parser says */

/* The parser's callback has no argument of the caller's. */
static _Thread_local char said[TEXT_MAX];

static int on_parse_error(char *text)
{
    size_t len = strcspn(text, "\n");

    if (!said[0] && strcmp(text, "Error") != 0 && strcmp(text, ": ") != 0)
        snprintf(said, sizeof said, "%.*s", (int)len, text);
    return 0;
}

/* --- evenstep's own -------------------------------------------------------- */

/* An attribute in seconds; -1, which no draft takes, if it is none. */
static double seconds_of(void *object, char *key)
{
    const char *text = agget(object, key);
    double seconds;

    if (!text || number_parse_double(text, 0, 1e9, &seconds) < 0)
        return -1;
    return seconds;
}

/* [cores=4, memory="8GiB"]; one of its nodes may have none. */
static int read_need(struct graph_draft *d,
                     Agnode_t *node,
                     struct es_error *err)
{
    static char cores_key[] = "cores", memory_key[] = "memory";
    const char *cores_text = agget(node, cores_key);
    const char *memory_text = agget(node, memory_key);
    json_t *memory =
        memory_text && *memory_text ? json_string(memory_text) : NULL;
    char place[PLACE_MAX];
    double cores = 0;
    int rc;

    snprintf(place, sizeof place, "node \"%s\" [cores, memory]",
             agnameof(node));
    if (cores_text && *cores_text
        && number_parse_double(cores_text, 1, 65536, &cores) < 0)
        cores = -1;
    rc = draft_need(d, place, cores, draft_bytes(memory), err);
    json_decref(memory);
    return rc;
}

/* Does the file say nothing of it? */
static int is_missing(void *object, char *key)
{
    const char *text = agget(object, key);

    return !text || !*text;
}

static int read_node(struct graph_draft *d,
                     Agnode_t *node,
                     const struct graph_reading *how,
                     struct es_error *err)
{
    static char key[] = "time";
    char place[PLACE_MAX];
    double seconds = seconds_of(node, key);
    json_t *id;
    int rc;

    snprintf(place, sizeof place, "node \"%s\" [time]", agnameof(node));
    if (is_missing(node, key) && how->guess > 0) {
        seconds = how->guess;
        d->understood.guessed_given++;
    } else if (is_missing(node, key)) {
        return draft_fail(
            d, place,
            "give it [time=SECONDS], --guess SECONDS for all that "
            "have none, or with --times the trace of Nextflow",
            "no time", err);
    }
    id = json_string(agnameof(node));
    rc = draft_task(d, place, id, seconds, err);
    if (rc == 0)
        rc = read_need(d, node, err);
    json_decref(id);
    return rc;
}

/* Where it is not said it is as for a format that does not know any. */
static int read_edge(struct graph_draft *d,
                     Agedge_t *edge,
                     const struct graph_reading *how,
                     struct es_error *err)
{
    static char key[] = "comm";
    double seconds = is_missing(edge, key) && how->guess > 0
                         ? how->ccr * how->guess
                         : seconds_of(edge, key);
    char place[PLACE_MAX];
    json_t *tail = json_string(agnameof(agtail(edge)));
    json_t *head = json_string(agnameof(aghead(edge)));
    uint32_t from, to;
    int rc = -1;

    snprintf(place, sizeof place, "edge \"%s\" -> \"%s\" [comm]",
             agnameof(agtail(edge)), agnameof(aghead(edge)));
    from = draft_find(d, place, tail, err);
    to = from == GRAPH_NOBODY ? GRAPH_NOBODY : draft_find(d, place, head, err);
    if (to != GRAPH_NOBODY)
        rc = draft_edge(d, place, from, to, seconds, err);
    json_decref(tail);
    json_decref(head);
    return rc;
}

static int read_own(struct graph_draft *d,
                    Agraph_t *g,
                    const struct graph_reading *how,
                    struct es_error *err)
{
    d->understood.format = "Graphviz DOT";
    for (Agnode_t *v = agfstnode(g); v; v = agnxtnode(g, v))
        if (read_node(d, v, how, err) < 0)
            return -1;
    for (Agnode_t *v = agfstnode(g); v; v = agnxtnode(g, v))
        for (Agedge_t *e = agfstout(g, v); e; e = agnxtout(g, e))
            if (read_edge(d, e, how, err) < 0)
                return -1;
    return 0;
}

/* --- all ------------------------------------------------------------------ */

static int has_attribute(Agraph_t *g, const char *key)
{
    char name[KEY_MAX];

    snprintf(name, sizeof name, "%s", key);
    return agattr(g, AGNODE, name, NULL) != NULL;
}

/* Nextflow names what is no process beside it, by an attribute of its own. */
static int is_nextflow(Agraph_t *g, const struct graph_reading *how)
{
    if (has_attribute(g, "time"))
        return 0;
    return has_attribute(g, "xlabel")
           || (how->times && how->times->kind == TIMES_NEXTFLOW);
}

static int read_all(struct graph_draft *d,
                    Agraph_t *g,
                    const struct graph_reading *how,
                    struct es_error *err)
{
    if (!agisdirected(g))
        return draft_fail(d, "graph", "give a digraph",
                          "its edges have no direction", err);
    if (strcmp(agnameof(g) ? agnameof(g) : "", "snakemake_dag") == 0)
        return graph_read_snakemake(d, g, how, err);
    if (is_nextflow(g, how))
        return graph_read_nextflow(d, g, how, err);
    return read_own(d, g, how, err);
}

int graph_read_dot(struct graph_draft *d,
                   const char *text,
                   const struct graph_reading *how,
                   struct es_error *err)
{
    Agraph_t *g;
    int rc;

    said[0] = '\0';
    (void)agseterrf(on_parse_error);
    g = agmemread(text);
    if (!g)
        return draft_fail(d, "DOT", "see `man dot`",
                          said[0] ? said : "no graph", err);
    rc = read_all(d, g, how, err);
    (void)agclose(g);
    return rc;
}
