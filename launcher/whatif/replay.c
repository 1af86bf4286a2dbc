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
#include "launcher/whatif/trace.h"
#include "launcher/whatif/trace_reader.h"
#include "pmix_bcast/array.h"
#include "policy/bundles.h"
#include "policy/policy.h"
#include "policy/shares.h"
#include "policy/tasks.h"
#include "policy/threshold.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- slice replay -------------------------------------------------------------- */

/* A size policy is told what happened, and says the next slice
 * of every channel.
 *
 * Such a policy is told of whole frames.  A frame is a job.  It is over when
 * every channel that has a slice of it has fed back, or when the caller says
 * so.  Then the policy adjusts, with the default threshold of `evenstep run`. */

struct slice_replay {
    const struct policy_kind *kind;
    const double *value; /* the caller's */
    void *state;
    size_t n;
    uint64_t job; /* units */
    struct threshold_noise noise;
    /* n each */
    double *load; /* as the policy says */
    double *cut;  /* what it is cut by: 0 of a channel that was removed */
    struct slice *slice;           /* of the next frame */
    struct completion *completion; /* of the frame that is under way */
};

/* The default of `evenstep run`. */
static const struct threshold_rule threshold = {THRESHOLD_PERCENT, 5};

/* --- the channels --------------------------------------------------------- */

/* Start the policy with the loads that are known. */
static int start_policy(struct slice_replay *s, struct es_error *err)
{
    struct metric *metric = calloc(s->n, sizeof *metric);
    const struct profile profile = {{[ELEMENT_C] = 1}};
    struct policy_setup setup = {s->n, metric, &profile, s->value};
    size_t bytes = s->kind->state_bytes(s->n, s->value);
    int rc = -1;

    free(s->state);
    s->state = bytes ? malloc(bytes) : NULL;
    for (size_t i = 0; metric && i < s->n; i++) {
        metric[i].JL = metric[i].X[ELEMENT_C] = s->load[i];
        metric[i].CU[ELEMENT_C] = 100; /* as metric_rank() does */
    }
    if (metric && s->state)
        rc = s->kind->init(s->state, &setup);
    free(metric);
    if (rc < 0)
        return es_no_memory(err);
    s->kind->loads(s->state, s->load);
    s->noise = (struct threshold_noise){0};
    return 0;
}

/* Add a channel, or one that is back.  It gets as much as the others have on
 * average. */
static int add_channel(struct slice_replay *s,
                       size_t channel,
                       struct es_error *err)
{
    double sum = 0, present = 0;

    for (size_t i = 0; i < s->n; i++) {
        s->load[i] = s->cut[i];
        sum += s->cut[i];
        present += s->completion[i].presence == PRESENCE_PRESENT;
    }
    s->load[channel] = sum > 0 ? sum / present : 1;
    s->completion[channel] = (struct completion){0};
    s->n += channel == s->n;
    return start_policy(s, err);
}

/* --- a frame -------------------------------------------------------------- */

/* Cut the slices of the next frame. */
static void cut_slices(struct slice_replay *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->cut[i] =
            s->completion[i].presence == PRESENCE_PRESENT ? s->load[i] : 0;
    if (shares_cut(0, s->job, 1, s->cut, s->slice, s->n) < 0)
        memset(s->slice, 0, s->n * sizeof *s->slice); /* no channel is left */
}

static void end_frame(struct slice_replay *s)
{
    struct completion *c = s->completion;
    double first = INFINITY, last = 0, limit;

    for (size_t i = 0; i < s->n; i++) {
        if (c[i].units == 0)
            continue;
        first = fmin(first, c[i].seconds);
        last = fmax(last, c[i].seconds);
    }
    if (first > last)
        return; /* no channel has done anything */
    limit = threshold_seconds(&threshold, &s->noise, c, s->n, 1);
    threshold_feedback(&s->noise, c, s->n);
    (void)s->kind->adjust(s->state, c, last - first > limit, s->load);
    for (size_t i = 0; i < s->n; i++) {
        c[i].units = 0;
        c[i].seconds = 0;
    }
}

static int all_are_in(const struct slice_replay *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->completion[i].presence == PRESENCE_PRESENT
            && s->completion[i].units == 0
            && s->slice[i].begin < s->slice[i].end)
            return 0;
    return 1;
}

/* --- all together --------------------------------------------------------- */

/* Room for all channels that may ever join: unused pages cost nothing. */
static int allocate(struct slice_replay *s, struct es_error *err)
{
    s->load = calloc(TRACE_CHANNELS_MAX, sizeof *s->load);
    s->cut = calloc(TRACE_CHANNELS_MAX, sizeof *s->cut);
    s->slice = calloc(TRACE_CHANNELS_MAX, sizeof *s->slice);
    s->completion = calloc(TRACE_CHANNELS_MAX, sizeof *s->completion);
    return s->load && s->cut && s->slice && s->completion ? 0
                                                          : es_no_memory(err);
}

static void slice_replay_clear(struct slice_replay *s)
{
    free(s->state);
    free(s->load);
    free(s->cut);
    free(s->slice);
    free(s->completion);
    memset(s, 0, sizeof *s);
}

/* kind->bundles must be NULL. Fails with ES_ENV if memory ran out. */
static int slice_replay_init(struct slice_replay *s,
                             const struct policy_kind *kind,
                             const double value[],
                             const struct trace_event *open,
                             struct es_error *err)
{
    *s = (struct slice_replay){.kind = kind,
                               .value = value,
                               .n = open->channel,
                               .job = open->tasks > 0 ? (uint64_t)open->tasks
                                                      : BUNDLES_MAX_SIZE};
    if (allocate(s, err) < 0) {
        slice_replay_clear(s);
        return -1;
    }
    for (size_t i = 0; i < s->n; i++)
        s->load[i] = 1;
    if (start_policy(s, err) < 0) {
        slice_replay_clear(s);
        return -1;
    }
    cut_slices(s);
    return 0;
}

/* A feedback of a frame that TRACE_FRAME will end.
 * From a time of 0 no speed follows. */
static void slice_replay_feedback(struct slice_replay *s,
                                  const struct trace_event *e)
{
    if (e->tasks <= 0 || !(e->time_ns > 0))
        return;
    s->completion[e->channel].units += (uint64_t)e->tasks;
    s->completion[e->channel].seconds += e->time_ns * 1e-9;
}

/* Any event but open.  Its channel must be there, or, of add_channel, have been
 * removed or be the next number.  TRACE_FRAME: the frame is over. */
static int slice_replay_apply(struct slice_replay *s,
                              const struct trace_event *e,
                              struct es_error *err)
{
    if (e->op == TRACE_ADD_CHANNEL && add_channel(s, e->channel, err) < 0)
        return -1;
    if (e->op == TRACE_SET_JOB)
        s->job = e->tasks > 0 ? (uint64_t)e->tasks : 0;
    if (e->op == TRACE_FEEDBACK)
        slice_replay_feedback(s, e);
    if (e->op == TRACE_REMOVE_CHANNEL)
        s->completion[e->channel].presence = PRESENCE_GONE;
    if (e->op == TRACE_FRAME || (e->op != TRACE_SET_JOB && all_are_in(s)))
        end_frame(s);
    cut_slices(s);
    return 0;
}

/* Units of a channel's next slice. */
static int64_t slice_replay_size(const struct slice_replay *s, size_t channel)
{
    return (int64_t)(s->slice[channel].end - s->slice[channel].begin);
}

/* --- bundle replay ------------------------------------------------------------- */

/* A bundle policy is told what happened, and says the next
 * bundle of every channel.
 *
 * The state of a policy has room for a number of channels.  When more join, a
 * larger state is made and told again all that happened. */

struct bundle_replay {
    const struct policy_kind *kind;
    const double *value; /* the caller's */
    void *state;
    size_t n;    /* channels so far */
    size_t room; /* that the state is made for */
    struct trace_event *event;
    size_t n_events, events_room;
};

#define ROOM_SPARE 16 /* channels that may join before a larger state is made */

/* A state with that much room, whose first n channels are there.  NULL if
 * memory ran out. */
static void *create_state(const struct bundle_replay *b, size_t n, size_t room)
{
    /* Bundle policies do not use the metrics, but init() checks them. */
    struct metric *metric = calloc(room, sizeof *metric);
    const struct profile profile = {{[ELEMENT_C] = 1}};
    struct policy_setup setup = {room, metric, &profile, b->value};
    size_t bytes = b->kind->state_bytes(room, b->value);
    void *state = bytes ? malloc(bytes) : NULL;

    if (metric)
        metric[0].JL = 1;
    if (!metric || !state || b->kind->init(state, &setup) < 0) {
        free(state);
        state = NULL;
    }
    free(metric);
    for (size_t i = n; state && i < room; i++)
        b->kind->bundles->leave(state, i);
    return state;
}

/* Tell a policy of one event; *n is the number of channels. */
static void tell_policy(const struct policy_bundles *policy,
                        void *state,
                        size_t *n,
                        const struct trace_event *e)
{
    switch (e->op) {
    case TRACE_OPEN:
        policy->set_context(state, (int32_t)e->tasks);
        break;
    case TRACE_SET_JOB:
        policy->set_job(state, e->channel, (int32_t)e->tasks, (int32_t)e->left);
        break;
    case TRACE_FEEDBACK:
        policy->feedback(state, e->channel, (int32_t)e->tasks, e->time_ns);
        break;
    case TRACE_SET_THREADS:
        policy->set_threads(state, e->channel, e->threads, e->processors);
        break;
    case TRACE_ADD_CHANNEL:
        policy->join(state, e->channel);
        *n += e->channel == *n;
        break;
    case TRACE_REMOVE_CHANNEL:
        policy->leave(state, e->channel);
        break;
    case TRACE_FRAME:
    case TRACE_SUMMARY:
        break;
    }
}

static int remember(struct bundle_replay *b,
                    const struct trace_event *e,
                    struct es_error *err)
{
    struct trace_event *event = array_grow(
        b->event, &b->events_room, b->n_events + 1, sizeof *event, SIZE_MAX);

    if (!event)
        return es_no_memory(err);
    b->event = event;
    b->event[b->n_events++] = *e;
    return 0;
}

/* Make a state with twice the room, and tell it all that happened. */
static int enlarge(struct bundle_replay *b, struct es_error *err)
{
    size_t n = b->event[0].channel, room = 2 * b->room;
    void *state = create_state(b, n, room);

    if (!state)
        return es_no_memory(err);
    for (size_t i = 0; i < b->n_events; i++)
        tell_policy(b->kind->bundles, state, &n, &b->event[i]);
    free(b->state);
    b->state = state;
    b->room = room;
    return 0;
}

static void bundle_replay_clear(struct bundle_replay *b)
{
    free(b->state);
    free(b->event);
    memset(b, 0, sizeof *b);
}

/* kind->bundles must not be NULL. Fails with ES_ENV if memory ran out. */
static int bundle_replay_init(struct bundle_replay *b,
                              const struct policy_kind *kind,
                              const double value[],
                              const struct trace_event *open,
                              struct es_error *err)
{
    *b = (struct bundle_replay){.kind = kind,
                                .value = value,
                                .n = open->channel,
                                .room = open->channel + ROOM_SPARE};
    b->state = create_state(b, b->n, b->room);
    if (!b->state)
        return es_no_memory(err);
    if (remember(b, open, err) < 0) {
        bundle_replay_clear(b);
        return -1;
    }
    tell_policy(kind->bundles, b->state, &b->n, open);
    return 0;
}

/* Any event but open, frame or summary.  Its channel must be there, or, of
 * add_channel, have been removed or be the next number. */
static int bundle_replay_apply(struct bundle_replay *b,
                               const struct trace_event *e,
                               struct es_error *err)
{
    if (e->op == TRACE_ADD_CHANNEL && e->channel == b->room
        && enlarge(b, err) < 0)
        return -1;
    if (remember(b, e, err) < 0)
        return -1;
    tell_policy(b->kind->bundles, b->state, &b->n, e);
    return 0;
}

/* As kind->bundles->size(). */
static int64_t bundle_replay_size(const struct bundle_replay *b, size_t channel)
{
    return b->kind->bundles->size(b->state, channel);
}

/* --- replay -------------------------------------------------------------------- */

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
