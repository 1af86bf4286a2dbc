/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/trace.h"
#include "launcher/base/report_head.h"
#include "policy/bundles.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX 1e18
#define QUOTE_MAX   40 /* bytes of an unknown word that a message quotes */

/* The line that is being read. */
struct reader {
    const json_t *object;
    size_t number;
    struct es_error *err;
};

static int fail(const struct reader *r,
                const char *mend,
                const char *key,
                const char *how)
{
    return es_fail(r->err, ES_USAGE, mend, "trace, line %zu: \"%s\" %s",
                   r->number, key, how);
}

/* --- numbers -------------------------------------------------------------- */

static int take_number(
    const struct reader *r, const char *key, double low, double high, double *v)
{
    const json_t *value = json_object_get(r->object, key);
    char mend[100];

    snprintf(mend, sizeof mend, "give a number from %.10g to %.10g", low, high);
    if (!value)
        return fail(r, mend, key, "is missing");
    if (!json_is_number(value))
        return fail(r, mend, key, "is no number");
    *v = json_number_value(value);
    if (!(*v >= low && *v <= high))
        return fail(r, mend, key, "is out of range");
    return 0;
}

/* 10.0 is whole, too; integers are exact up to 2^63 - 1. */
static int take_whole(const struct reader *r,
                      const char *key,
                      int64_t low,
                      int64_t high,
                      int64_t *v)
{
    const json_t *value = json_object_get(r->object, key);
    double number;

    if (take_number(r, key, (double)low, (double)high, &number) < 0)
        return -1;
    if (json_is_integer(value))
        *v = json_integer_value(value);
    else if (fabs(number) <= 0x1p53 && !(floor(number) < number))
        *v = (int64_t)number;
    else
        return fail(r, "give a whole number", key, "is no whole number");
    return 0;
}

static int take_int(const struct reader *r, const char *key, int64_t *v)
{
    return take_whole(r, key, INT32_MIN, INT32_MAX, v);
}

/* null, or an absent key, is 0: not known. */
static int take_known(const struct reader *r, const char *key, int32_t *v)
{
    const json_t *value = json_object_get(r->object, key);
    int64_t number = 0;

    if (value && !json_is_null(value) && take_int(r, key, &number) < 0)
        return -1;
    *v = (int32_t)number;
    return 0;
}

static int take_time(const struct reader *r, const char *key, double *v)
{
    return take_number(r, key, 0, DBL_MAX, v);
}

static int take_channel(const struct reader *r, struct trace_event *e)
{
    int64_t channel;

    if (take_whole(r, "channel", 0, TRACE_CHANNELS_MAX - 1, &channel) < 0)
        return -1;
    e->channel = (size_t)channel;
    return 0;
}

/* --- one function an op --------------------------------------------------- */

static int read_open(const struct reader *r, struct trace_event *e)
{
    int64_t channels;
    int32_t context;

    e->op = TRACE_OPEN;
    if (take_whole(r, "channels", 1, TRACE_CHANNELS_MAX, &channels) < 0
        || take_known(r, "context_max", &context) < 0)
        return -1;
    e->channel = (size_t)channels;
    e->tasks = context;
    return 0;
}

static int read_set_job(const struct reader *r, struct trace_event *e)
{
    e->op = TRACE_SET_JOB;
    if (take_channel(r, e) < 0 || take_int(r, "job_tasks", &e->tasks) < 0)
        return -1;
    e->left = e->tasks;
    return json_object_get(r->object, "left") ? take_int(r, "left", &e->left)
                                              : 0;
}

static int read_feedback(const struct reader *r, struct trace_event *e)
{
    e->op = TRACE_FEEDBACK;
    if (take_channel(r, e) < 0 || take_int(r, "size", &e->tasks) < 0)
        return -1;
    return take_time(r, "time_ns", &e->time_ns);
}

static int read_feedback4(const struct reader *r, struct trace_event *e)
{
    double accumulated, overhead;
    int32_t threads;

    e->op = TRACE_FEEDBACK;
    if (take_channel(r, e) < 0 || take_int(r, "size", &e->tasks) < 0
        || take_time(r, "accumulated_ns", &accumulated) < 0
        || take_time(r, "overhead_ns", &overhead) < 0
        || take_known(r, "threads", &threads) < 0)
        return -1;
    e->time_ns =
        bundles_time((int32_t)e->tasks, accumulated, overhead, threads);
    return 0;
}

static int read_set_threads(const struct reader *r, struct trace_event *e)
{
    int is_peer = json_is_true(json_object_get(r->object, "peer"));

    e->op = TRACE_SET_THREADS;
    if (take_channel(r, e) < 0)
        return -1;
    if (take_known(r, is_peer ? "peer_threads" : "threads", &e->threads) < 0)
        return -1;
    return take_known(r, "available_processors", &e->processors);
}

static int read_add_channel(const struct reader *r, struct trace_event *e)
{
    e->op = TRACE_ADD_CHANNEL;
    e->channel = TRACE_CHANNEL_NEW;
    return json_object_get(r->object, "channel") ? take_channel(r, e) : 0;
}

static int read_remove_channel(const struct reader *r, struct trace_event *e)
{
    e->op = TRACE_REMOVE_CHANNEL;
    return take_channel(r, e);
}

static const struct {
    const char *name;
    int (*read)(const struct reader *r, struct trace_event *e);
} ops[] = {
    {"open", read_open},
    {"set_job", read_set_job},
    {"feedback", read_feedback},
    {"feedback4", read_feedback4},
    {"set_threads", read_set_threads},
    {"add_channel", read_add_channel},
    {"remove_channel", read_remove_channel},
};

static int read_op(const struct reader *r,
                   const json_t *op,
                   struct trace_event *e)
{
    const char *name = json_string_value(op);

    for (size_t i = 0; name && i < sizeof ops / sizeof ops[0]; i++)
        if (strcmp(ops[i].name, name) == 0)
            return ops[i].read(r, e);
    return es_fail(r->err, ES_USAGE,
                   "give open, set_job, feedback, feedback4, set_threads, "
                   "add_channel or remove_channel",
                   "trace, line %zu: \"%.*s\" is no op", r->number, QUOTE_MAX,
                   name ? name : "op");
}

/* --- a run's report ------------------------------------------------------- */

/* A slot is as good as a node: its name from now on is NODE:SLOT. */
static int name_slot(const struct reader *r)
{
    json_t *node = json_object_get(r->object, "node");
    int64_t slot;
    char *name;
    int rc;

    if (!json_object_get(r->object, "slot"))
        return 0;
    if (take_whole(r, "slot", 0, UINT32_MAX, &slot) < 0)
        return -1;
    if (asprintf(&name, "%s:%jd", json_string_value(node), (intmax_t)slot) < 0)
        return es_no_memory(r->err);
    rc = json_string_set(node, name);
    free(name);
    return rc < 0 ? es_no_memory(r->err) : 0;
}

static int read_slice(const struct reader *r, struct trace_slice *s, int *is_ok)
{
    const json_t *ok = json_object_get(r->object, "ok");
    int64_t end, status;

    s->node = json_string_value(json_object_get(r->object, "node"));
    if (!s->node)
        return fail(r, "give the name of a node", "node", "is no name");
    if (name_slot(r) < 0)
        return -1;
    s->node = json_string_value(json_object_get(r->object, "node"));
    s->back = s->start = -1;
    s->cpu = 0;
    if (take_int(r, "status", &status) < 0
        || take_whole(r, "begin", 0, INT64_MAX, &s->begin) < 0
        || take_whole(r, "end", 0, INT64_MAX, &end) < 0
        || take_number(r, "seconds", 0, SECONDS_MAX, &s->seconds) < 0
        || (json_object_get(r->object, "back")
            && take_number(r, "back", 0, SECONDS_MAX, &s->back) < 0)
        || (json_object_get(r->object, "start")
            && take_number(r, "start", 0, SECONDS_MAX, &s->start) < 0)
        || (json_object_get(r->object, "cpu")
            && take_number(r, "cpu", 0, SECONDS_MAX, &s->cpu) < 0))
        return -1;
    if (s->begin > end)
        return fail(r, "give an end from begin on", "end", "is below begin");
    s->units = end - s->begin;
    *is_ok = status == 0;
    if (json_is_boolean(ok)) /* where the status does not tell */
        *is_ok = json_is_true(ok);
    return 0;
}

/* Slices that are done fill the array from the front, others from the back. */
static int keep_slice(const struct reader *r,
                      struct trace_line *line,
                      const struct trace_slice *s,
                      int is_ok,
                      uint64_t *units)
{
    if (s->units == 0)
        return 0; /* an empty slice says nothing */
    if (!is_ok) {
        line->failed--;
        line->n_failed++;
        line->slice[line->failed - line->slice] = *s;
        return 0;
    }
    *units += (uint64_t)s->units;
    if (*units > INT64_MAX)
        return fail(r, "give less than 2^63 units", "slices", "have too many");
    line->slice[line->n++] = *s;
    return 0;
}

static int read_frame(const struct reader *r, struct trace_line *line)
{
    const json_t *slices = json_object_get(r->object, "slices");
    uint64_t units = 0;
    const json_t *slice;
    size_t i;

    line->event.op = TRACE_FRAME;
    if (!json_is_array(slices))
        return fail(r, "give a list", "slices", "is no list");
    line->slice = calloc(json_array_size(slices) + 1, sizeof *line->slice);
    if (!line->slice)
        return es_no_memory(r->err);
    line->failed = line->slice + json_array_size(slices);
    json_array_foreach(slices, i, slice)
    {
        struct reader one = {slice, r->number, r->err};
        struct trace_slice s = {0};
        int is_ok = 0;

        if (json_is_true(json_object_get(slice, "beaten")))
            continue; /* another one with its units is there, too */
        if (read_slice(&one, &s, &is_ok) < 0
            || keep_slice(&one, line, &s, is_ok, &units) < 0)
            return -1;
    }
    return 0;
}

static int read_report(const struct reader *r,
                       const json_t *type,
                       struct trace_line *line)
{
    const char *name = json_string_value(type);
    struct es_error why;

    if (report_head_check(r->object, &why) < 0)
        return es_fail(r->err, ES_USAGE, why.mend, "trace, line %zu: %s",
                       r->number, why.what);
    if (name && strcmp(name, "frame") == 0)
        return read_frame(r, line);
    line->event.op = TRACE_SUMMARY;
    if (name && strcmp(name, "summary") == 0)
        return 0;
    return es_fail(r->err, ES_USAGE, "give frame or summary",
                   "trace, line %zu: \"%.*s\" is no type", r->number, QUOTE_MAX,
                   name ? name : "type");
}

/* --- a line --------------------------------------------------------------- */

static int read_line(const struct reader *r, struct trace_line *line)
{
    const json_t *op = json_object_get(r->object, "op");
    const json_t *type = json_object_get(r->object, "type");

    if (op)
        return read_op(r, op, &line->event);
    if (type)
        return read_report(r, type, line);
    return es_fail(r->err, ES_USAGE, "give {\"op\":\"...\",...}",
                   "trace, line %zu: has no \"op\"", r->number);
}

int trace_parse(struct trace_line *line,
                size_t number,
                const char *text,
                size_t len,
                struct es_error *err)
{
    struct trace_line read = {.event.op = TRACE_SUMMARY};
    struct reader r = {.number = number, .err = err};
    json_error_t at;
    int rc;

    memset(line, 0, sizeof *line);
    read.json = json_loadb(text, len, 0, &at);
    if (!read.json)
        return es_fail(err, ES_USAGE, "give a JSON object a line",
                       "trace, line %zu:%d: %s", number, at.column, at.text);
    r.object = read.json;
    rc = read_line(&r, &read);
    if (rc == 0)
        *line = read;
    else
        trace_clear(&read);
    return rc;
}

int trace_number(const struct trace_line *line,
                 size_t number,
                 const char *key,
                 double low,
                 double high,
                 double *v,
                 struct es_error *err)
{
    const struct reader r = {line->json, number, err};

    return take_number(&r, key, low, high, v);
}

void trace_clear(struct trace_line *line)
{
    free(line->slice);
    json_decref(line->json);
    memset(line, 0, sizeof *line);
}
