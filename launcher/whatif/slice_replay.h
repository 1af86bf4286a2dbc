/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slice_replay.h - a size policy is told what happened, and says the next slice
 * of every channel.
 *
 * Such a policy is told of whole frames.  A frame is a job.  It is over when
 * every channel that has a slice of it has fed back, or when the caller says
 * so.  Then the policy adjusts, with the default threshold of `evenstep run`.
 */
#ifndef LAUNCHER_WHATIF_SLICE_REPLAY_H
#define LAUNCHER_WHATIF_SLICE_REPLAY_H

#include "launcher/whatif/trace.h"
#include "policy/policy.h"
#include "policy/shares.h"
#include "policy/threshold.h"

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

/* kind->bundles must be NULL. Fails with ES_ENV if memory ran out. */
int slice_replay_init(struct slice_replay *s,
                      const struct policy_kind *kind,
                      const double value[],
                      const struct trace_event *open,
                      struct es_error *err);
void slice_replay_clear(struct slice_replay *s);

/* Any event but open.  Its channel must be there, or, of add_channel, have been
 * removed or be the next number.  TRACE_FRAME: the frame is over. */
int slice_replay_apply(struct slice_replay *s,
                       const struct trace_event *e,
                       struct es_error *err);

/* A feedback of a frame that TRACE_FRAME will end. */
void slice_replay_feedback(struct slice_replay *s, const struct trace_event *e);

/* Units of a channel's next slice. */
int64_t slice_replay_size(const struct slice_replay *s, size_t channel);

#endif
