/* SPDX-License-Identifier: BSD-2-Clause */
/* Read by libcgraph, the parser of Graphviz. */
#include "launcher/base/number.h"
#include "launcher/graph/graph_format.h"
#include "launcher/graph/graph_nextflow.h"
#include "launcher/graph/graph_snakemake.h"

#include <stdio.h>
#include <string.h>

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
