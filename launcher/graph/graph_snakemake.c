/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A job's label leaves out the wildcards that the jobs before it have.  So what
 * those have is inherited along the edges, where they agree, and narrows down
 * which benchmark is the job's.
 */
#include "launcher/graph/graph_snakemake.h"
#include "launcher/graph/graph_dot_node.h"
#include "launcher/graph/graph_guess.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_ 240 /* bytes of a task's identifier */
#define PLACE     "node"

struct job {
    char *rule;
    json_t *own;       /* wildcards in its label */
    json_t *inherited; /* of the jobs before it; null: they disagree */
    const char *style;
};

struct snake {
    struct graph_draft *d;
    const struct graph_reading *how;
    struct job *job;
    uint32_t jobs;
    json_t *rules;      /* number by name */
    uint32_t *row_rule; /* by row of the report: the rule, or GRAPH_NOBODY */
    struct graph_timing timing;
    struct es_error *err;
};

/* --- labels --------------------------------------------------------------- */

/* The next line of a label, in which "\n" is two characters; NULL: no more. */
static char *next_line(char **rest)
{
    char *line = *rest, *end;

    if (!line)
        return NULL;
    for (end = line; *end && *end != '\n'; end++)
        if (end[0] == '\\' && (end[1] == 'n' || end[1] == 'l'))
            break;
    *rest = *end ? end + (*end == '\\' ? 2 : 1) : NULL;
    *end = '\0';
    return line;
}

static int read_label(struct snake *s, struct job *j, const char *label)
{
    char *copy = strdup(label), *rest = copy, *line, *colon;
    int bad = 0;

    j->own = json_object();
    j->inherited = json_object();
    line = copy ? next_line(&rest) : NULL;
    j->rule = line ? strdup(line) : NULL;
    while (j->rule && (line = next_line(&rest))) {
        colon = strstr(line, ": ");
        if (!colon)
            continue;
        *colon = '\0';
        bad |= json_object_set_new(j->own, line, json_string(colon + 2));
    }
    free(copy);
    if (!j->rule || !j->own || !j->inherited)
        return es_no_memory(s->err);
    if (bad)
        return draft_fail(s->d, PLACE, "give a text in UTF-8",
                          "a label is no text", s->err);
    return 0;
}

static int number_rule(struct snake *s, uint32_t v)
{
    const char *rule = s->job[v].rule;
    json_t *number = json_object_get(s->rules, rule);

    if (!number) {
        number = json_integer((json_int_t)json_object_size(s->rules));
        if (json_object_set_new(s->rules, rule, number) < 0)
            return draft_fail(s->d, PLACE, "give the output of --dag",
                              "a label is no text", s->err);
    }
    s->timing.kind[v] = (uint32_t)json_integer_value(number);
    return 0;
}

/* --- wildcards ------------------------------------------------------------ */

/* What v has, w has, too, unless it has learnt something else. */
static int inherit(const struct job *v, struct job *w)
{
    const char *key;
    json_t *value;
    int bad = 0;

    for (int k = 0; k < 2; k++)
        json_object_foreach(k ? v->own : v->inherited, key, value)
        {
            json_t *known = json_object_get(w->inherited, key);

            if (json_object_get(w->own, key))
                continue;
            if (known && !json_equal(known, value))
                value = json_null();
            bad |= json_object_set(w->inherited, key, value);
        }
    return bad ? -1 : 0;
}

/* Along the edges, which the draft has; a graph without times tells the order. */
static int inherit_all(struct snake *s)
{
    int64_t *none = calloc(s->jobs + (size_t)1, sizeof *none);
    struct graph *g = NULL;
    uint32_t place = 0;
    enum graph_fault fault =
        none ? graph_create(&g, none, s->jobs, s->d->edge, s->d->edges, &place)
             : GRAPH_MEMORY;
    int rc = 0;

    free(none);
    if (fault == GRAPH_CYCLE)
        return es_fail(s->err, ES_USAGE, "a task graph has no cycles",
                       "%s: task \"%.200s\" waits for itself", s->d->name,
                       s->job[place].rule);
    if (fault == GRAPH_TASKS)
        return es_fail(s->err, ES_USAGE, "give at least one", "%s: no tasks",
                       s->d->name);
    if (fault != GRAPH_SOUND)
        return es_no_memory(s->err);
    for (uint32_t i = 0; rc == 0 && i < g->tasks; i++) {
        uint32_t v = g->ranked[i];

        for (uint32_t k = g->succ_at[v]; rc == 0 && k < g->succ_at[v + 1]; k++)
            rc = inherit(&s->job[v], &s->job[g->succ[k].task]);
    }
    graph_destroy(g);
    return rc < 0 ? es_no_memory(s->err) : 0;
}

/* --- benchmarks ----------------------------------------------------------- */

/* Is the word in the text, with no letter or digit beside it? */
static int has_word(const char *text, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = text; len > 0 && (at = strstr(at, word)); at++)
        if ((at == text || !isalnum((unsigned char)at[-1]))
            && !isalnum((unsigned char)at[len]))
            return 1;
    return 0;
}

/* The rule with the longest name that is in that of a row, or GRAPH_NOBODY. */
static uint32_t rule_of(const struct snake *s, const char *name)
{
    const char *rule, *longest = "";
    json_t *number;

    json_object_foreach(s->rules, rule,
                        number) if (strlen(rule) > strlen(longest)
                                    && has_word(name, rule)) longest = rule;
    number = json_object_get(s->rules, longest);
    return *longest ? (uint32_t)json_integer_value(number) : GRAPH_NOBODY;
}

static int find_rules(struct snake *s)
{
    const struct graph_times *t = s->how->times;

    if (!t)
        return 0;
    s->row_rule = calloc(t->rows + (size_t)1, sizeof *s->row_rule);
    if (!s->row_rule)
        return es_no_memory(s->err);
    for (uint32_t i = 0; i < t->rows; i++)
        s->row_rule[i] = rule_of(s, t->row[i].name);
    return 0;
}

static int has_all(const struct graph_time *row, const json_t *wildcards)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)wildcards, key, value)
    {
        const char *text = json_string_value(value);

        if (text && *text && !has_word(row->name, text))
            return 0;
    }
    return 1;
}

/* How many rows are the job's; the last one is in *row, the sum in *sum. */
static uint32_t match(const struct snake *s,
                      uint32_t v,
                      int strictly,
                      struct graph_time **row,
                      double *sum)
{
    struct graph_times *t = s->how->times;
    const struct job *j = &s->job[v];
    uint32_t n = 0;

    *sum = 0;
    for (uint32_t i = 0; t && i < t->rows; i++)
        if (s->row_rule[i] == s->timing.kind[v] && has_all(&t->row[i], j->own)
            && (!strictly || has_all(&t->row[i], j->inherited))) {
            t->row[i].is_used = 1;
            *row = &t->row[i];
            *sum += t->row[i].seconds;
            n++;
        }
    return n;
}

static int find_time(struct snake *s, uint32_t v)
{
    struct graph_time *row = NULL;
    double sum;
    uint32_t n = match(s, v, 1, &row, &sum);

    if (n == 0)
        n = match(s, v, 0, &row, &sum);
    if (n == 1) {
        s->timing.seconds[v] = row->seconds;
        return draft_need(s->d, PLACE, row->cores, row->memory, s->err);
    }
    if (n == 0 && strcmp(s->job[v].rule, "all") == 0) {
        s->timing.seconds[v] = 0; /* by custom the target, which does nothing */
        s->d->understood.targets++;
    } else if (n > 1) {
        s->timing.seconds[v] = sum / n;
        s->d->understood.guessed_kind++;
    }
    return 0;
}

/* --- the draft ------------------------------------------------------------ */

/* "rule sample=A", with a number behind it if there is one already. */
static json_t *name_job(const struct snake *s, uint32_t v)
{
    const struct job *j = &s->job[v];
    const char *key;
    json_t *value;
    char name[NAME_MAX_];
    size_t len, room = sizeof name - 16;

    len = (size_t)snprintf(name, room, "%s", j->rule);
    for (int k = 0; k < 2; k++)
        json_object_foreach(k ? j->own : j->inherited, key,
                            value) if (len < room && json_is_string(value))
            len += (size_t)snprintf(name + len, room - len, " %s=%s", key,
                                    json_string_value(value));
    if (len >= room)
        len = room - 1;
    for (unsigned n = 1; json_object_get(s->d->index, name); n++)
        snprintf(name + len, sizeof name - len, " #%u", n + v);
    return json_string(name);
}

static int draft_jobs(struct snake *s)
{
    for (uint32_t v = 0; v < s->jobs; v++) {
        json_t *id = name_job(s, v);
        int rc = draft_task(s->d, PLACE, id, 0, s->err);

        json_decref(id);
        if (rc < 0 || find_time(s, v) < 0)
            return -1;
        s->d->understood.done += strstr(s->job[v].style, "dashed") != NULL;
    }
    return 0;
}

static int read_graph(struct snake *s, Agraph_t *g)
{
    for (Agnode_t *v = agfstnode(g); v; v = agnxtnode(g, v)) {
        struct job *j = &s->job[s->jobs];

        j->style = dot_text(v, "style");
        if (read_label(s, j, dot_text(v, "label")) < 0
            || number_rule(s, s->jobs++) < 0)
            return -1;
        for (Agedge_t *e = agfstout(g, v); e; e = agnxtout(g, e))
            if (draft_edge(s->d, PLACE, dot_number(v), dot_number(aghead(e)), 0,
                           s->err)
                < 0)
                return -1;
    }
    s->timing.kinds = (uint32_t)json_object_size(s->rules);
    return 0;
}

static void clear(struct snake *s, uint32_t nodes)
{
    for (uint32_t v = 0; s->job && v < nodes; v++) {
        free(s->job[v].rule);
        json_decref(s->job[v].own);
        json_decref(s->job[v].inherited);
    }
    free(s->job);
    free(s->row_rule);
    json_decref(s->rules);
    graph_timing_clear(&s->timing);
}

int graph_read_snakemake(struct graph_draft *d,
                         Agraph_t *g,
                         const struct graph_reading *how,
                         struct es_error *err)
{
    struct snake s = {.d = d, .how = how, .rules = json_object(), .err = err};
    uint32_t nodes = dot_number_nodes(g);
    int rc;

    d->understood.format = "Snakemake's --dag";
    s.job = calloc(nodes + (size_t)1, sizeof *s.job);
    if (!s.job || !s.rules || graph_timing_init(&s.timing, nodes) < 0)
        rc = es_no_memory(err);
    else if (read_graph(&s, g) < 0 || inherit_all(&s) < 0 || find_rules(&s) < 0
             || draft_jobs(&s) < 0)
        rc = -1;
    else
        rc = graph_guess(d, &s.timing, how, err);
    clear(&s, nodes);
    return rc;
}
