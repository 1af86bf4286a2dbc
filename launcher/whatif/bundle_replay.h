/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bundle_replay.h - what happened, told to a bundle policy: the next bundle of
 * every channel.
 *
 * A policy's state is made for so many channels.  When one more joins than
 * there is room for, all that happened is told again to a larger one.
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

/* kind->bundles is not NULL.  Fails with ES_ENV for want of memory. */
int bundle_replay_init(struct bundle_replay *b,
                       const struct policy_kind *kind,
                       const double value[],
                       const struct trace_event *open,
                       struct es_error *err);
void bundle_replay_clear(struct bundle_replay *b);

/* Any event but open, frame or summary, of a channel that is there; one that is
 * added was removed before, or is the next number. */
int bundle_replay_apply(struct bundle_replay *b,
                        const struct trace_event *e,
                        struct es_error *err);

/* As kind->bundles->size(). */
int64_t bundle_replay_size(const struct bundle_replay *b, size_t channel);

#endif
