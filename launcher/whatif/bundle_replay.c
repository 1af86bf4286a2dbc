/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/bundle_replay.h"
#include "pmix_bcast/array.h"

#include <stdlib.h>
#include <string.h>

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

int bundle_replay_init(struct bundle_replay *b,
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

void bundle_replay_clear(struct bundle_replay *b)
{
    free(b->state);
    free(b->event);
    memset(b, 0, sizeof *b);
}

int bundle_replay_apply(struct bundle_replay *b,
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

int64_t bundle_replay_size(const struct bundle_replay *b, size_t channel)
{
    return b->kind->bundles->size(b->state, channel);
}
