/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/slice_replay.h"
#include "policy/bundles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

int slice_replay_init(struct slice_replay *s,
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

void slice_replay_clear(struct slice_replay *s)
{
    free(s->state);
    free(s->load);
    free(s->cut);
    free(s->slice);
    free(s->completion);
    memset(s, 0, sizeof *s);
}

/* From a time of 0 no speed follows. */
void slice_replay_feedback(struct slice_replay *s, const struct trace_event *e)
{
    if (e->tasks <= 0 || !(e->time_ns > 0))
        return;
    s->completion[e->channel].units += (uint64_t)e->tasks;
    s->completion[e->channel].seconds += e->time_ns * 1e-9;
}

int slice_replay_apply(struct slice_replay *s,
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

int64_t slice_replay_size(const struct slice_replay *s, size_t channel)
{
    return (int64_t)(s->slice[channel].end - s->slice[channel].begin);
}
