/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep replay: the sizes that a policy would choose, event by event.
 *
 * Each line is answered at once, so that a program can drive a policy through
 * two pipes.  No configuration is read, so that a replay is the same
 * everywhere.
 */
#include "launcher/base/notice.h"
#include "launcher/base/options.h"
#include "launcher/commands.h"
#include "launcher/config/policy_option.h"
#include "launcher/config/policy_site.h"
#include "launcher/whatif/bundle_replay.h"
#include "launcher/whatif/slice_replay.h"
#include "launcher/whatif/trace_reader.h"
#include "policy/tasks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    struct policy_option policy;
    const char *policy_text;
    uint64_t seed; /* UINT64_MAX: not given */
};

#define SEED_MAX 0x1p53 /* above, a double has no odd numbers */

/* A trace that is being replayed. */
struct replay {
    const struct policy_option *policy;
    struct bundle_replay bundles; /* of a bundle policy */
    struct slice_replay slices;   /* of a size policy */
    char *has_left;               /* n */
    size_t n;                     /* channels; 0: there was no open yet */
    size_t number;                /* of the line */
    int64_t task;                 /* units in a task of a bundle policy */
    json_t *node;                 /* of a report: channel by name */
};

/* --- options -------------------------------------------------------------- */

#define AT(member) OPTION_AT(struct options, member)

/* clang-format off */
static const struct option options[] = {
    {OPTION_TEXT, "policy", "NAME[:key=value,...]", AT(policy_text),
     .required = 1, .word = policy_site_word, .help =
     "as `evenstep run`; what is not given has its default, and what "
     "JPPF clamps is clamped, with a warning"},
    {OPTION_COUNT, "seed", "N", AT(seed), .high = SEED_MAX, .help =
     "of the policy's random choices, if it makes any (1)"},
    {.type = OPTION_END},
};
/* clang-format on */

/* A policy without random choices ignores the seed. */
static int parse(struct options *o, struct es_error *err)
{
    size_t k;

    if (policy_site_parse(&o->policy, o->policy_text, POLICY_SETTLE, err) < 0)
        return -1;
    k = policy_param_find(o->policy.kind, "seed");
    if (o->seed != UINT64_MAX && k < o->policy.kind->n_params)
        o->policy.value[k] = (double)o->seed;
    return 0;
}

/* --- channels ------------------------------------------------------------- */

static int is_bundled(const struct replay *r)
{
    return r->policy->kind->bundles != NULL;
}

static int open_channels(struct replay *r,
                         const struct trace_event *e,
                         struct es_error *err)
{
    const struct policy_option *p = r->policy;

    r->has_left = calloc(TRACE_CHANNELS_MAX, 1);
    if (!r->has_left)
        return es_no_memory(err);
    if (is_bundled(r)
            ? bundle_replay_init(&r->bundles, p->kind, p->value, e, err) < 0
            : slice_replay_init(&r->slices, p->kind, p->value, e, err) < 0)
        return -1;
    r->n = e->channel;
    return 0;
}

static void clear(struct replay *r)
{
    bundle_replay_clear(&r->bundles);
    slice_replay_clear(&r->slices);
    free(r->has_left);
    json_decref(r->node);
}

static int check_number(const struct replay *r, size_t n, struct es_error *err)
{
    if (n <= TRACE_CHANNELS_MAX)
        return 0;
    return es_fail(err, ES_USAGE, "give up to 65536",
                   "trace, line %zu: too many channels", r->number);
}

/* Does the event fit what came before? */
static int check_event(const struct replay *r,
                       const struct trace_event *e,
                       struct es_error *err)
{
    if (e->op == TRACE_OPEN && r->n > 0)
        return es_fail(err, ES_USAGE, "give one trace at a time",
                       "trace, line %zu: \"open\" comes twice", r->number);
    if (e->op == TRACE_OPEN)
        return check_number(r, e->channel, err);
    if (r->n == 0)
        return es_fail(err, ES_USAGE, "give {\"op\":\"open\",...} first",
                       "trace, line %zu: nothing is open", r->number);
    if (e->op == TRACE_ADD_CHANNEL && e->channel == r->n)
        return check_number(r, r->n + 1, err);
    if (e->op == TRACE_ADD_CHANNEL && e->channel < r->n
        && !r->has_left[e->channel])
        return es_fail(err, ES_USAGE, "give one that was removed, or none",
                       "trace, line %zu: channel %zu is there already",
                       r->number, e->channel);
    if (e->op == TRACE_ADD_CHANNEL && e->channel < r->n)
        return 0;
    if (e->channel >= r->n || r->has_left[e->channel])
        return es_fail(err, ES_USAGE, "give one that is there",
                       "trace, line %zu: channel %zu %s", r->number, e->channel,
                       e->channel < r->n ? "was removed" : "does not exist");
    return 0;
}

static int apply_event(struct replay *r,
                       const struct trace_event *event,
                       struct es_error *err)
{
    struct trace_event e = *event;

    if (e.op == TRACE_ADD_CHANNEL && e.channel == TRACE_CHANNEL_NEW)
        e.channel = r->n;
    if (check_event(r, &e, err) < 0)
        return -1;
    if (e.op == TRACE_OPEN)
        return open_channels(r, &e, err);
    if (is_bundled(r) ? bundle_replay_apply(&r->bundles, &e, err) < 0
                      : slice_replay_apply(&r->slices, &e, err) < 0)
        return -1;
    if (e.op == TRACE_ADD_CHANNEL) {
        r->has_left[e.channel] = 0;
        r->n += e.channel == r->n;
    }
    if (e.op == TRACE_REMOVE_CHANNEL)
        r->has_left[e.channel] = 1;
    return 0;
}

/* --- a frame of a report -------------------------------------------------- */

/* Each node that is new becomes a channel, in the order of the slices. */
static int name_channels(struct replay *r,
                         const struct trace_line *line,
                         struct es_error *err)
{
    struct trace_event add = {.op = TRACE_ADD_CHANNEL,
                              .channel = TRACE_CHANNEL_NEW};
    struct trace_event first = {.op = TRACE_OPEN};

    for (size_t i = 0; i < line->n; i++) {
        const char *name = line->slice[i].node;
        size_t n = json_object_size(r->node);

        if (json_object_get(r->node, name))
            continue;
        if (json_object_set_new(r->node, name, json_integer((json_int_t)n)) < 0)
            return es_no_memory(err);
        if (n < r->n)
            continue; /* an op has opened it */
        if (r->n > 0 && apply_event(r, &add, err) < 0)
            return -1;
    }
    first.channel = json_object_size(r->node);
    return r->n > 0 || first.channel == 0 ? 0 : apply_event(r, &first, err);
}

/* A bundle policy counts in tasks. */
static int64_t tasks_of_units(const struct replay *r, int64_t units)
{
    return units / r->task + (units % r->task != 0);
}

static int64_t frame_tasks(struct replay *r, const struct trace_line *line)
{
    int64_t units = 0;

    for (size_t i = 0; i < line->n; i++)
        units += line->slice[i].units;
    if (is_bundled(r))
        r->task = (int64_t)tasks_of((uint64_t)units, 1).units;
    return tasks_of_units(r, units);
}

/* To a bundle policy each slice is a bundle; to a size policy, all slices are
 * one frame. */
static int apply_frame(struct replay *r,
                       const struct trace_line *line,
                       struct es_error *err)
{
    const struct trace_event over = {.op = TRACE_FRAME};
    struct trace_event job = {.op = TRACE_SET_JOB},
                       back = {.op = TRACE_FEEDBACK};

    if (name_channels(r, line, err) < 0)
        return -1;
    job.tasks = job.left = frame_tasks(r, line);
    for (size_t i = 0; i < line->n; i++) {
        const struct trace_slice *s = &line->slice[i];
        const json_t *channel = json_object_get(r->node, s->node);

        back.channel = job.channel = (size_t)json_integer_value(channel);
        back.tasks = tasks_of_units(r, s->units);
        back.time_ns = s->seconds * 1e9;
        if (check_event(r, &back, err) < 0 || apply_event(r, &job, err) < 0)
            return -1;
        if (!is_bundled(r))
            slice_replay_feedback(&r->slices, &back);
        else if (apply_event(r, &back, err) < 0)
            return -1;
    }
    return is_bundled(r) || r->n == 0
               ? 0
               : slice_replay_apply(&r->slices, &over, err);
}

/* --- line by line --------------------------------------------------------- */

static int print_sizes(const struct replay *r, struct es_error *err)
{
    int rc = printf("{\"sizes\":[");

    for (size_t i = 0; i < r->n && rc >= 0; i++) {
        const char *comma = i ? "," : "";

        if (r->has_left[i])
            rc = printf("%snull", comma);
        else if (is_bundled(r))
            rc = printf("%s%" PRId64, comma,
                        bundle_replay_size(&r->bundles, i) * r->task);
        else
            rc = printf("%s%" PRId64, comma, slice_replay_size(&r->slices, i));
    }
    if (rc >= 0 && printf("]}\n") >= 0 && fflush(stdout) == 0)
        return 0;
    return es_fail(err, ES_WORK, "free some space", "cannot write: %s",
                   strerror(errno));
}

static int replay_line(struct replay *r,
                       const struct trace_line *line,
                       struct es_error *err)
{
    int rc;

    if (line->event.op == TRACE_FRAME)
        rc = apply_frame(r, line, err);
    else
        rc = line->event.op == TRACE_SUMMARY
                 ? 0
                 : apply_event(r, &line->event, err);
    return rc < 0 ? -1 : print_sizes(r, err);
}

static int replay_all(struct replay *r, struct es_error *err)
{
    struct trace_reader reader = {.file = stdin};
    struct trace_line line;
    int rc;

    while ((rc = trace_reader_next(&reader, &line, err)) == 1) {
        r->number = reader.number;
        rc = replay_line(r, &line, err);
        trace_clear(&line);
        if (rc < 0)
            break;
    }
    trace_reader_clear(&reader);
    if (rc == 0 && r->number == 0)
        return es_fail(err, ES_USAGE, "give JSON lines on stdin",
                       "the trace is empty");
    return rc;
}

static int replay_main(int argc, char **argv, struct es_error *err)
{
    struct options o = {.seed = UINT64_MAX};
    struct replay r = {.policy = &o.policy, .task = 1};
    int rc = options_parse(&command_replay, &o, argc, argv, err);

    if (rc != 0)
        return rc;
    if (parse(&o, err) < 0)
        return -1;
    notice_lines("evenstep", o.policy.warnings, strlen(o.policy.warnings));
    r.node = json_object();
    if (!r.node)
        return es_no_memory(err);
    rc = replay_all(&r, err);
    clear(&r);
    return rc;
}

const struct subcommand command_replay = {
    .name = "replay",
    .brief = "sizes that a policy would choose, by a trace",
    .usage = "evenstep replay --policy NAME[:key=value,...] [--seed N] < TRACE",
    .about =
        "Tell a policy what happened, line by line, and print after each line what it\n"
        "would send to each channel (node) next, null for one that was removed:\n"
        "  {\"sizes\":[985,5,5,5]}\n"
        "\n"
        "TRACE is JSON lines,\n"
        "  {\"op\":\"open\",\"channels\":4,\"context_max\":null}       first\n"
        "  {\"op\":\"set_job\",\"channel\":0,\"job_tasks\":1000}\n"
        "  {\"op\":\"feedback\",\"channel\":0,\"size\":10,\"time_ns\":60050000}\n"
        "  {\"op\":\"feedback4\",\"channel\":0,\"size\":10,\"accumulated_ns\":60000000,\n"
        "   \"overhead_ns\":50000,\"threads\":1}                    on one line\n"
        "  {\"op\":\"set_threads\",\"channel\":0,\"threads\":4,\"available_processors\":null}\n"
        "  {\"op\":\"add_channel\"}      a new one; \"channel\":1: it is back\n"
        "  {\"op\":\"remove_channel\",\"channel\":1}\n"
        "or the file of `evenstep run --report` or --journal, of which each frame is a\n"
        "line.\n",
    .option = options,
    .run = replay_main,
};
