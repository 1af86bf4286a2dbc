/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports of workflow systems, line by line:
 *
 *   Nextflow   -with-trace: columns with tabs between, named in the first line
 *   Snakemake  benchmark: likewise, of one task, a line for each repetition; or,
 *              in a file .jsonl, an object for each
 *   Makeflow   .makeflowlog: a line for each change of a task's state, and lines
 *              that begin with # for all else
 */
#include "launcher/graph/graph_report.h"
#include "launcher/base/number.h"
#include "pmix_bcast/array.h"
#include "policy/graph.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 64
#define SECONDS_MAX 1e9
#define NAME_MAX_   1000 /* bytes of a row's name */
#define MIB         1048576.0

/* One report being read. */
struct report {
    struct graph_times *t;
    const char *name;
    char *rest;    /* of the text */
    unsigned line; /* number of the one read last */
    char *column[COLUMNS_MAX];
    size_t columns, named; /* of this line; of the first */
    struct es_error *err;
};

static int bad(const struct report *r, const char *mend, const char *what)
{
    return es_fail(r->err, ES_USAGE, mend, "--times: %s: line %u: %s", r->name,
                   r->line, what);
}

/* --- lines ---------------------------------------------------------------- */

/* The next line that is not empty, or NULL. */
static char *next_line(struct report *r)
{
    char *line;
    size_t len;

    while ((line = strsep(&r->rest, "\n"))) {
        r->line++;
        len = strlen(line);
        if (len > 0 && line[len - 1] == '\r')
            line[--len] = '\0';
        if (len > 0)
            return line;
    }
    return NULL;
}

static void split(struct report *r, char *line)
{
    r->columns = 0;
    while (line && r->columns < COLUMNS_MAX)
        r->column[r->columns++] = strsep(&line, "\t");
}

/* The next line of a table; 0 at the end, -1 if columns are missing. */
static int next_row(struct report *r)
{
    char *line = next_line(r);

    if (!line)
        return 0;
    split(r, line);
    if (r->columns < r->named)
        return bad(r, "give the whole report", "it ends too early");
    return 1;
}

/* Which column of the first line is called so, or COLUMNS_MAX. */
static size_t column_of(const struct report *r, const char *name)
{
    for (size_t i = 0; i < r->named; i++)
        if (strcmp(r->column[i], name) == 0)
            return i;
    return COLUMNS_MAX;
}

/* What a column has; "": there is no such column, or nothing in it. */
static const char *text_of(const struct report *r, size_t column)
{
    if (column >= r->columns || strcmp(r->column[column], "-") == 0)
        return "";
    return r->column[column];
}

static double number_of(const struct report *r, size_t column)
{
    double value = 0;

    if (number_parse_double(text_of(r, column), 0, 1e18, &value) < 0)
        return 0;
    return value;
}

/* --- Nextflow ------------------------------------------------------------- */

/* Seconds of a unit, and how long its name is; 0: there is no such unit. */
static double unit_of(const char *text, size_t *len)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz");

    *len = n;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].name) == n && strncmp(text, units[i].name, n) == 0)
            return units[i].seconds;
    return 0;
}

int graph_duration_parse(const char *text, double *seconds)
{
    char word[32];
    double sum = 0, number, unit;
    size_t len;

    if (number_parse_double(text, 0, SECONDS_MAX * 1e3, &number) == 0) {
        *seconds = number / 1e3;
        return 0;
    }
    if (!*text)
        return -1;
    while (*text) {
        len = strspn(text, "0123456789.");
        if (len == 0 || len >= sizeof word)
            return -1;
        memcpy(word, text, len);
        word[len] = '\0';
        text += len;
        unit = unit_of(text, &len);
        if (unit <= 0 || number_parse_double(word, 0, SECONDS_MAX, &number) < 0)
            return -1;
        sum += number * unit;
        text += len + strspn(text + len, " ");
    }
    *seconds = sum;
    return sum <= SECONDS_MAX ? 0 : -1;
}

/* "1.2 GB", which means 1024s there, or, raw, bytes; 0 if it is neither. */
static double memory_of(const char *text)
{
    static const char units[] = "BKMGTP";
    char word[32];
    size_t len = strspn(text, "0123456789.");
    const char *unit = text + len + strspn(text + len, " ");
    const char *at = *unit ? strchr(units, *unit) : units;
    double bytes = 0;

    if (len == 0 || len >= sizeof word || !at)
        return 0;
    memcpy(word, text, len);
    word[len] = '\0';
    if (number_parse_double(word, 0, 1e18, &bytes) < 0)
        return 0;
    for (; at > units; at--)
        bytes *= 1024;
    return bytes <= 1e18 ? bytes : 0;
}

struct trace {
    size_t name, process, tag, status, realtime, memory, cores;
};

static void find_columns(const struct report *r, struct trace *t)
{
    *t = (struct trace){
        .name = column_of(r, "name"),
        .process = column_of(r, "process"),
        .tag = column_of(r, "tag"),
        .status = column_of(r, "status"),
        .realtime = column_of(r, "realtime"),
        .memory = column_of(r, "peak_rss"),
        .cores = column_of(r, "cpus"),
    };
}

/* "PROCESS (tag)", as in the column name, or from two others; "#2" and so on
 * behind it if it is there already: each row is a task. */
static int name_row(const struct report *r,
                    const struct trace *t,
                    char name[NAME_MAX_])
{
    const char *tag = text_of(r, t->tag);
    struct graph_time *known;
    int n;

    if (t->name < COLUMNS_MAX)
        n = snprintf(name, NAME_MAX_, "%s", text_of(r, t->name));
    else
        n = snprintf(name, NAME_MAX_, *tag ? "%s (%s)" : "%s",
                     text_of(r, t->process), tag);
    if (n <= 0 || n >= NAME_MAX_ - 16)
        return bad(r, "give the name of each task",
                   n <= 0 ? "no name" : "the name is too long");
    known = graph_times_find(r->t, name);
    if (known)
        snprintf(name + n, 16, " #%u", ++known->measured);
    return 0;
}

static int read_task(const struct report *r, const struct trace *t)
{
    const char *status = text_of(r, t->status);
    char name[NAME_MAX_];
    struct graph_time row = {.name = name,
                             .memory = memory_of(text_of(r, t->memory)),
                             .cores = number_of(r, t->cores)};

    if (*status && strcmp(status, "COMPLETED") != 0
        && strcmp(status, "CACHED") != 0) {
        r->t->failed++;
        return 0;
    }
    if (name_row(r, t, name) < 0)
        return -1;
    if (!*text_of(r, t->realtime))
        row.seconds = -1; /* the task is there, its time is not */
    else if (graph_duration_parse(text_of(r, t->realtime), &row.seconds) < 0)
        return bad(r, "give it as 1m 3s, or in milliseconds",
                   "realtime is no time");
    return graph_times_add(r->t, &row, r->err);
}

static int read_trace(struct report *r)
{
    struct trace t;
    int more;

    find_columns(r, &t);
    if (t.realtime == COLUMNS_MAX)
        return bad(r, "let trace.fields have realtime", "no column realtime");
    if (t.name == COLUMNS_MAX && t.process == COLUMNS_MAX)
        return bad(r, "let trace.fields have name", "no column name");
    while ((more = next_row(r)) > 0)
        if (read_task(r, &t) < 0)
            return -1;
    return more;
}

/* --- Snakemake ------------------------------------------------------------ */

static int read_benchmark(struct report *r)
{
    size_t seconds = column_of(r, "s"), memory = column_of(r, "max_rss");
    size_t rule = column_of(r, "rule_name"), cores = column_of(r, "threads");
    size_t wildcards = column_of(r, "wildcards");
    char name[NAME_MAX_];
    int more;

    while ((more = next_row(r)) > 0) {
        struct graph_time row = {.name = name,
                                 .memory = number_of(r, memory) * MIB,
                                 .cores = number_of(r, cores)};

        if (*text_of(r, rule))
            snprintf(name, sizeof name, "%s %s", text_of(r, rule),
                     text_of(r, wildcards));
        else
            snprintf(name, sizeof name, "%s", r->name);
        if (number_parse_double(text_of(r, seconds), 0, SECONDS_MAX,
                                &row.seconds)
            < 0)
            return bad(r, "give seconds", "s is no time");
        if (graph_times_add(r->t, &row, r->err) < 0)
            return -1;
    }
    return more;
}

/* Wildcards as in the table, "a=1 b=2"; in JSON they are an object. */
static void name_object(const struct report *r,
                        const json_t *row,
                        char name[NAME_MAX_])
{
    const char *rule = json_string_value(json_object_get(row, "rule_name"));
    json_t *wildcards = json_object_get(row, "wildcards"), *value;
    const char *key;
    int n = snprintf(name, NAME_MAX_, "%s", rule ? rule : r->name);

    json_object_foreach(wildcards, key, value)
    {
        if (rule && n < NAME_MAX_ && json_is_string(value))
            n += snprintf(name + n, (size_t)(NAME_MAX_ - n), " %s=%s", key,
                          json_string_value(value));
    }
    if (rule && json_is_string(wildcards) && n < NAME_MAX_)
        snprintf(name + n, (size_t)(NAME_MAX_ - n), " %s",
                 json_string_value(wildcards));
}

static int read_object(struct report *r, const char *line)
{
    json_t *row = json_loads(line, 0, NULL);
    const json_t *seconds = json_object_get(row, "s");
    char name[NAME_MAX_];
    struct graph_time time = {
        .name = name,
        .seconds = json_is_number(seconds) ? json_number_value(seconds) : -1,
        .memory = json_number_value(json_object_get(row, "max_rss")) * MIB,
        .cores = json_number_value(json_object_get(row, "threads"))};
    const int is_json = row != NULL;

    name_object(r, row, name);
    json_decref(row);
    if (!is_json)
        return bad(r, "give the whole benchmark", "no JSON");
    if (!(time.seconds >= 0) || time.seconds > SECONDS_MAX)
        return bad(r, "give Snakemake's benchmark, with seconds as \"s\"",
                   "s is no time");
    if (!(time.memory >= 0))
        time.memory = 0;
    if (!(time.cores >= 0))
        time.cores = 0;
    return graph_times_add(r->t, &time, r->err);
}

static int read_objects(struct report *r, const char *line)
{
    int rc = 0;

    for (; rc == 0 && line; line = next_line(r))
        rc = read_object(r, line);
    return rc;
}

/* --- Makeflow ------------------------------------------------------------- */

enum node_state { NODE_WAITING, NODE_RUNNING, NODE_COMPLETE };

struct node {
    char *target;   /* the first; in the text; NULL: not told */
    uint64_t start; /* us; 0: does not run */
};

struct log {
    struct node *node;
    size_t room, n;
};

static struct node *node_of(struct log *l, const char *number)
{
    int64_t i;
    struct node *grown;

    if (number_parse_int(number, 0, GRAPH_TASKS_MAX - 1, &i) < 0)
        return NULL;
    grown = array_grow(l->node, &l->room, (size_t)i + 1, sizeof *grown,
                       GRAPH_TASKS_MAX);
    if (!grown)
        return NULL;
    l->node = grown;
    for (; l->n <= (size_t)i; l->n++)
        l->node[l->n] = (struct node){0};
    return &l->node[i];
}

/* "# TARGETS", the node's number, and its files. */
static int read_remark(struct report *r, struct log *l, char *line)
{
    struct node *node;

    split(r, line);
    if (strcmp(r->column[0], "# TARGETS") != 0 || r->columns < 3)
        return 0;
    node = node_of(l, r->column[1]);
    if (!node)
        return bad(r, "give the whole log", "no number of a task");
    node->target = r->column[2];
    return 0;
}

static int read_end(struct report *r,
                    const struct log *l,
                    struct node *node,
                    uint64_t at)
{
    char number[24];
    struct graph_time row = {.name = node->target,
                             .seconds = (double)(at - node->start) / 1e6};

    snprintf(number, sizeof number, "#%td", node - l->node);
    if (!row.name)
        row.name = number;
    node->start = 0;
    return graph_times_add(r->t, &row, r->err);
}

static int read_state(struct report *r, struct log *l, char *line)
{
    const char *at_text = strsep(&line, " "), *number = strsep(&line, " ");
    const char *state_text = strsep(&line, " ");
    struct node *node = number ? node_of(l, number) : NULL;
    uint64_t at;
    int64_t state;

    if (!node || !state_text || number_parse_u64(at_text, &at) < 0
        || number_parse_int(state_text, 0, 4, &state) < 0)
        return bad(r, "give the whole log of a Makeflow",
                   "no change of a task's state");
    if (state == NODE_RUNNING)
        node->start = at;
    else if (state == NODE_COMPLETE && node->start > 0 && at >= node->start)
        return read_end(r, l, node, at);
    else if (state > NODE_COMPLETE) {
        node->start = 0;
        r->t->failed++;
    }
    return 0;
}

static int read_log(struct report *r, char *line)
{
    struct log l = {0};
    int rc = 0;

    for (; rc == 0 && line; line = next_line(r))
        rc = *line == '#' ? read_remark(r, &l, line) : read_state(r, &l, line);
    free(l.node);
    return rc;
}

/* --- all ------------------------------------------------------------------ */

/* Its rows and those that are there already are of one system. */
static int is_of(const struct report *r, enum times_kind kind)
{
    if (r->t->rows > 0 && r->t->kind != kind)
        return bad(r, "give those of one system", "another kind of report");
    r->t->kind = kind;
    return 0;
}

int graph_report_parse(struct graph_times *t,
                       const char *name,
                       char *text,
                       struct es_error *err)
{
    struct report r = {.t = t, .name = name, .rest = text, .err = err};
    char *first = next_line(&r);

    if (!first)
        return bad(&r, "give a report", "nothing is in it");
    if (*first == '#'
        || (isdigit((unsigned char)*first) && !strchr(first, '\t')))
        return is_of(&r, TIMES_MAKEFLOW) < 0 ? -1 : read_log(&r, first);
    if (*first == '{' && first[strlen(first) - 1] == '}')
        return is_of(&r, TIMES_SNAKEMAKE) < 0 ? -1 : read_objects(&r, first);
    split(&r, first);
    r.named = r.columns;
    if (r.columns >= 2 && strcmp(r.column[0], "s") == 0)
        return is_of(&r, TIMES_SNAKEMAKE) < 0 ? -1 : read_benchmark(&r);
    if (r.columns >= 2)
        return is_of(&r, TIMES_NEXTFLOW) < 0 ? -1 : read_trace(&r);
    return bad(
        &r, "give Nextflow's trace, Snakemake's benchmarks or Makeflow's log",
        "no report that is known");
}
