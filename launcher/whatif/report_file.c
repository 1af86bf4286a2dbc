/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/report_file.h"
#include "launcher/base/user_file.h"
#include "launcher/whatif/trace_reader.h"
#include "pmix_bcast/array.h"
#include "policy/dispatch.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX 1e18

static const char give_report[] =
    "give the file of `evenstep run --report` or --journal";

struct reading {
    struct report_file *f;
    json_t *known; /* number of a node, by name */
    double *busy;  /* one a node: when its last slice of the frame ended */
    size_t room_slices, room_frames, room_nodes;
    size_t number; /* of the line */
    struct es_error *err;
};

/* Room for one more behind n, or -1. */
static int grow(void **array, size_t *room, size_t n, size_t size)
{
    void *grown = array_grow(*array, room, n + 1, size, SIZE_MAX);

    if (!grown)
        return -1;
    *array = grown;
    return 0;
}

/* --- nodes ---------------------------------------------------------------- */

static int find_node(struct reading *r, const char *name, size_t *node)
{
    const json_t *known = json_object_get(r->known, name);
    struct report_file *f = r->f;

    *node = known ? (size_t)json_integer_value(known) : f->nodes;
    if (known)
        return 0;
    if (grow((void **)&r->busy, &r->room_nodes, f->nodes, sizeof *r->busy) < 0
        || json_array_append_new(f->node, json_string(name)) < 0
        || json_object_set_new(r->known, name, json_integer((json_int_t)*node))
               < 0)
        return es_no_memory(r->err);
    r->busy[f->nodes++] = 0;
    return 0;
}

/* --- lines ---------------------------------------------------------------- */

/* A slice began its seconds before it came back.  Where that is not known, a
 * node is taken to have done one slice after the other. */
static int add_slice(struct reading *r, const struct trace_slice *s, int done)
{
    struct report_file *f = r->f;
    struct report_slice *to;
    size_t node;

    if (find_node(r, s->node, &node) < 0
        || grow((void **)&f->slice, &r->room_slices, f->n_slices, sizeof *to)
               < 0)
        return es_no_memory(r->err);
    to = &f->slice[f->n_slices++];
    *to = (struct report_slice){.node = node,
                                .done = done,
                                .begin = s->begin,
                                .units = s->units,
                                .seconds = s->seconds,
                                .start = r->busy[node],
                                .startup = s->start,
                                .cpu = s->cpu};
    if (s->back > 0)
        to->start = s->back > s->seconds ? s->back - s->seconds : 0;
    r->busy[node] = to->start + to->seconds;
    return 0;
}

/* Older reports have none. */
static int64_t left_out(const struct trace_line *line)
{
    json_int_t units =
        json_integer_value(json_object_get(line->json, "left_out"));

    return units > 0 ? units : 0;
}

/* The rest, of which each part is a number from 0. */
static void read_rest(const struct trace_line *line, struct account_result *a)
{
    const json_t *rest = json_object_get(line->json, "rest");

    for (enum account_part i = 0; i < ACCOUNT_PARTS; i++) {
        double v = json_number_value(json_object_get(rest, account_name(i)));

        a->part[i] = v >= 0 && v <= SECONDS_MAX ? v : 0;
    }
}

static int read_account(const struct reading *r,
                        const struct trace_line *line,
                        struct account_result *a,
                        int *is_told)
{
    *is_told = json_object_get(line->json, "ideal") != NULL;
    if (!*is_told)
        return 0;
    read_rest(line, a);
    if (trace_number(line, r->number, "ideal", 0, SECONDS_MAX, &a->ideal,
                     r->err)
        < 0)
        return -1;
    return trace_number(line, r->number, "equal_parts", 0, SECONDS_MAX,
                        &a->equal, r->err);
}

/* When it began, which older reports do not tell. */
static int read_start(const struct reading *r,
                      const struct trace_line *line,
                      double *start)
{
    *start = r->f->seconds;
    if (!json_object_get(line->json, "began"))
        return 0;
    return trace_number(line, r->number, "began", 0, SECONDS_MAX, start,
                        r->err);
}

/* What its efficiency is of.  It is no time of its own where frames overlap;
 * older reports, which do not tell when frames began, have no such. */
static double time_of(const struct trace_line *line,
                      const struct report_frame *frame)
{
    double efficiency =
        json_number_value(json_object_get(line->json, "efficiency"));
    double time = efficiency > 0 && efficiency <= 1
                      ? frame->account.ideal / efficiency
                      : 0;

    if (!frame->is_told || !json_object_get(line->json, "began")
        || !(time > 0 && time <= SECONDS_MAX)
        || fabs(time - frame->last) <= 1e-9 * frame->last)
        return frame->last;
    return time;
}

static int add_slices(struct reading *r,
                      const struct trace_line *line,
                      struct report_frame *frame)
{
    memset(r->busy, 0, r->f->nodes * sizeof *r->busy);
    for (size_t i = 0; i < line->n; i++) {
        frame->units += line->slice[i].units;
        if (add_slice(r, &line->slice[i], 1) < 0)
            return -1;
    }
    for (size_t i = 0; i < line->n_failed; i++)
        if (add_slice(r, &line->failed[i], 0) < 0)
            return -1;
    frame->span = frame->last;
    for (size_t i = frame->slice; i < r->f->n_slices; i++)
        frame->span =
            fmax(frame->span, r->f->slice[i].start + r->f->slice[i].seconds);
    return 0;
}

/* Why nodes have done nothing of a frame. */
static int add_idle(struct reading *r, const json_t *list)
{
    struct report_file *f = r->f;
    const json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        const char *name = json_string_value(json_object_get(one, "node"));
        const char *why = json_string_value(json_object_get(one, "why"));

        if (!name || !why)
            continue;
        if (!f->idle)
            f->idle = json_object();
        if (json_object_set_new(f->idle, name, json_string(why)) < 0)
            return es_no_memory(r->err);
    }
    return 0;
}

/* Has it done anything, by its name or with one of its slots? */
static int is_listed(const struct report_file *f, const char *name)
{
    char own[256];
    int slot;

    for (size_t i = 0; i < f->nodes; i++) {
        report_file_split(own, &slot, report_file_node(f, i));
        if (strcmp(own, name) == 0)
            return 1;
    }
    return 0;
}

/* Nodes that have done nothing at all are nodes of the run all the same. */
static int list_idle(struct reading *r)
{
    const char *name;
    json_t *why;
    size_t node;

    json_object_foreach(r->f->idle, name, why)
    {
        if (!is_listed(r->f, name) && find_node(r, name, &node) < 0)
            return -1;
    }
    return 0;
}

static int add_frame(struct reading *r, const struct trace_line *line)
{
    struct report_file *f = r->f;
    struct report_frame frame = {
        .adjusted = json_is_true(json_object_get(line->json, "adjusted")),
        .complete = !json_is_false(json_object_get(line->json, "complete")),
        .slice = f->n_slices};
    double number;

    if (trace_number(line, r->number, "frame", 0, 0x1p53, &number, r->err) < 0
        || trace_number(line, r->number, "last", 0, SECONDS_MAX, &frame.last,
                        r->err)
               < 0
        || read_start(r, line, &frame.start) < 0
        || read_account(r, line, &frame.account, &frame.is_told) < 0)
        return -1;
    frame.account.time = time_of(line, &frame);
    if (grow((void **)&f->frame, &r->room_frames, f->n, sizeof frame) < 0)
        return es_no_memory(r->err);
    if (add_slices(r, line, &frame) < 0
        || add_idle(r, json_object_get(line->json, "idle")) < 0)
        return -1;
    frame.number = (int64_t)number;
    frame.left_out = left_out(line);
    frame.n = f->n_slices - frame.slice;
    frame.energy = json_incref(json_object_get(line->json, "energy"));
    frame.meters = json_incref(json_object_get(line->json, "meters"));
    f->frame[f->n++] = frame;
    f->seconds = fmax(f->seconds, frame.start + frame.last);
    return 0;
}

static int add_summary(struct reading *r, const struct trace_line *line)
{
    const char *policy =
        json_string_value(json_object_get(line->json, "policy"));
    const char *status =
        json_string_value(json_object_get(line->json, "status"));
    struct report_file *f = r->f;

    f->ended = 1;
    f->energy = json_incref(json_object_get(line->json, "energy"));
    f->left_out = left_out(line);
    snprintf(f->status, sizeof f->status, "%s", status ? status : "done");
    snprintf(f->policy, sizeof f->policy, "%s", policy ? policy : "");
    if (trace_number(line, r->number, "seconds", 0, SECONDS_MAX, &f->seconds,
                     r->err)
        < 0)
        return -1;
    return read_account(r, line, &f->account, &f->is_told);
}

static int add_line(struct reading *r, const struct trace_line *line)
{
    if (!r->f->head)
        r->f->head = json_incref(json_object_get(line->json, "report"));
    if (line->event.op == TRACE_FRAME && !r->f->ended)
        return add_frame(r, line);
    if (line->event.op == TRACE_SUMMARY && !r->f->ended)
        return add_summary(r, line);
    return es_fail(r->err, ES_USAGE, give_report, "line %zu: %s", r->number,
                   r->f->ended ? "comes after the summary"
                               : "is of a trace, not of a report");
}

/* A run that was killed may have left half a line at the end. */
static int add_lines(struct reading *r, FILE *file)
{
    struct trace_reader reader = {.file = file};
    struct trace_line line;
    int rc;

    while ((rc = trace_reader_next(&reader, &line, r->err)) == 1) {
        r->number = reader.number;
        rc = add_line(r, &line);
        trace_clear(&line);
        if (rc < 0)
            break;
    }
    r->f->journal = reader.is_journal;
    trace_reader_clear(&reader);
    if (rc < 0 && feof(file) && r->f->n > 0) {
        *r->err = (struct es_error){0};
        r->f->torn = 1;
        rc = 0;
    }
    if (rc == 0 && r->f->n == 0 && !r->f->ended)
        return es_fail(r->err, ES_USAGE, give_report,
                       "there is no frame in it");
    return rc;
}

/* --- public --------------------------------------------------------------- */

int report_file_read(struct report_file *f,
                     const char *of,
                     const char *path,
                     struct es_error *err)
{
    struct es_error why = {0};
    struct reading r = {.f = f, .err = &why};
    const char *in = user_file_in(path);
    FILE *file = in ? fopen(in, "re") : NULL;
    int rc;

    memset(f, 0, sizeof *f);
    if (!file)
        return es_fail(err, ES_USAGE, "name a file that you may read",
                       "%s: %s: %s", of, path, strerror(errno));
    f->node = json_array();
    r.known = json_object();
    /* so that each frame can set it to 0 */
    rc = grow((void **)&r.busy, &r.room_nodes, 0, sizeof *r.busy);
    rc = rc < 0 || !f->node || !r.known ? es_no_memory(&why)
                                        : add_lines(&r, file);
    if (rc == 0)
        rc = list_idle(&r);
    (void)fclose(file); /* it was only read */
    json_decref(r.known);
    free(r.busy);
    return rc < 0 ? es_fail(err, why.kind, why.mend, "%s: %s: %.400s", of, path,
                            why.what)
                  : 0;
}

void report_file_clear(struct report_file *f)
{
    for (size_t i = 0; i < f->n; i++) {
        json_decref(f->frame[i].energy);
        json_decref(f->frame[i].meters);
    }
    json_decref(f->head);
    json_decref(f->energy);
    free(f->frame);
    free(f->slice);
    json_decref(f->node);
    json_decref(f->idle);
    memset(f, 0, sizeof *f);
}

const char *report_file_node(const struct report_file *f, size_t node)
{
    return json_string_value(json_array_get(f->node, node));
}

const char *report_file_idle(const struct report_file *f, size_t node)
{
    const char *word =
        json_string_value(json_object_get(f->idle, report_file_node(f, node)));

    for (int why = IDLE_NOT + 1; word && why < IDLE_REASONS; why++)
        if (strcmp(word, idle_word((enum idle_reason)why)) == 0)
            return idle_text((enum idle_reason)why);
    return NULL;
}

void report_file_split(char name[256], int *slot, const char *node)
{
    const char *colon = strrchr(node, ':');
    char *end = NULL;
    long n = colon ? strtol(colon + 1, &end, 10) : -1;
    int is_slot = end && end > colon + 1 && !*end && n >= 0 && n <= INT_MAX;

    *slot = is_slot ? (int)n : -1;
    snprintf(name, 256, "%.*s",
             is_slot ? (int)(colon - node) : (int)strlen(node), node);
}

const json_t *report_file_find(const json_t *list, const char *name)
{
    const json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        const char *node = json_string_value(json_object_get(one, "node"));

        if (node && strcmp(node, name) == 0)
            return one;
    }
    return NULL;
}

const json_t *report_file_about(const struct report_file *f, size_t node)
{
    const json_t *nodes = json_object_get(f->head, "nodes");
    char name[256];
    int slot;

    report_file_split(name, &slot, report_file_node(f, node));
    return report_file_find(nodes, name);
}
