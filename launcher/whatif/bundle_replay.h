/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bundle_replay.h - a bundle policy is told what happened, and says the next
 * bundle of every channel.
 *
 * The state of a policy has room for a number of channels.  When more join, a
 * larger state is made and told again all that happened.
 */
#ifndef LAUNCHER_WHATIF_BUNDLE_REPLAY_H
#define LAUNCHER_WHATIF_BUNDLE_REPLAY_H

#include "launcher/whatif/trace.h"
#include "policy/policy.h"

struct bundle_replay {
    const struct policy_kind *kind;
    const double *value; /* the caller's */
    void *state;
    size_t n;    /* channels so far */
    size_t room; /* that the state is made for */
    struct trace_event *event;
    size_t n_events, events_room;
};

/* kind->bundles must not be NULL. Fails with ES_ENV if memory ran out. */
int bundle_replay_init(struct bundle_replay *b,
                       const struct policy_kind *kind,
                       const double value[],
                       const struct trace_event *open,
                       struct es_error *err);
void bundle_replay_clear(struct bundle_replay *b);

/* Any event but open, frame or summary.  Its channel must be there, or, of
 * add_channel, have been removed or be the next number. */
int bundle_replay_apply(struct bundle_replay *b,
                        const struct trace_event *e,
                        struct es_error *err);

/* As kind->bundles->size(). */
int64_t bundle_replay_size(const struct bundle_replay *b, size_t channel);

#endif
