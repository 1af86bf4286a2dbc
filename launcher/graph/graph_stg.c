/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers between white space.  The tasks are read before the edges, since an
 * edge's communication follows from the mean time of the tasks.
 */
#include "launcher/base/number.h"
#include "launcher/graph/graph_format.h"

#include <stdio.h>
#include <string.h>

#define WORD_MAX  32
#define PLACE_MAX 32

struct stg {
    struct graph_draft *d;
    const char *at; /* in the text */
    unsigned line;  /* of at, from 1 */
    struct es_error *err;
};

static int bad(const struct stg *s, const char *what)
{
    char place[PLACE_MAX];

    snprintf(place, sizeof place, "line %u", s->line);
    return draft_fail(s->d, place, "give `id time npred pred...` a task", what,
                      s->err);
}

/* The next whole number from 0. */
static int next(struct stg *s, int64_t most, int64_t *value)
{
    char word[WORD_MAX];
    size_t len;

    for (; *s->at && strchr(" \t\r\n", *s->at); s->at++)
        s->line += *s->at == '\n';
    len = strcspn(s->at, " \t\r\n");
    if (len == 0 || *s->at == '#')
        return bad(s, "the file ends too early");
    if (len >= sizeof word)
        return bad(s, "no number");
    memcpy(word, s->at, len);
    word[len] = '\0';
    if (number_parse_int(word, 0, most, value) < 0)
        return bad(s, "no whole number, or out of range");
    s->at += len;
    return 0;
}

/* One task's line; with edges, of this many seconds each, else the task. */
static int read_line(struct stg *s, uint32_t v, const double *comm)
{
    int64_t id, time, n, pred;
    char place[PLACE_MAX];

    if (next(s, GRAPH_TASKS_MAX, &id) < 0 || next(s, INT32_MAX, &time) < 0
        || next(s, GRAPH_TASKS_MAX, &n) < 0)
        return -1;
    if (id != v)
        return bad(s, "the ids do not count up from 0");
    snprintf(place, sizeof place, "line %u", s->line);
    if (!comm) {
        json_t *name = json_integer(id);
        int rc = draft_task(s->d, place, name, (double)time, s->err);

        json_decref(name);
        if (rc < 0)
            return -1;
    }
    for (int64_t i = 0; i < n; i++) {
        if (next(s, GRAPH_TASKS_MAX, &pred) < 0)
            return -1;
        if (!comm)
            continue;
        if (pred >= (int64_t)json_array_size(s->d->ids))
            return bad(s, "an unknown predecessor");
        if (draft_edge(s->d, place, (uint32_t)pred, v, *comm, s->err) < 0)
            return -1;
    }
    return 0;
}

static int read_lines(struct stg *s, const char *text, const double *comm)
{
    int64_t n;

    s->at = text;
    s->line = 1;
    if (next(s, GRAPH_TASKS_MAX - 2, &n) < 0)
        return -1;
    for (uint32_t v = 0; v < n + 2; v++)
        if (read_line(s, v, comm) < 0)
            return -1;
    return 0;
}

int graph_read_stg(struct graph_draft *d,
                   const char *text,
                   const struct graph_reading *how,
                   struct es_error *err)
{
    struct stg s = {.d = d, .err = err};
    double sum = 0, comm;
    size_t n;

    d->understood.format = "Standard Task Graph";
    if (read_lines(&s, text, NULL) < 0)
        return -1;
    n = json_array_size(d->ids);
    for (size_t v = 0; v < n; v++)
        sum += (double)d->time[v] / GRAPH_NS_PER_S;
    comm = n > 2 ? how->ccr * sum / (double)(n - 2) : 0;
    return read_lines(&s, text, &comm);
}
