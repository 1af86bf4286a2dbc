/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slice_replay.h - what happened, told to a size policy: the next slice of
 * every channel.
 *
 * Such a policy hears of whole frames.  A frame is a job, and over as soon as
 * every channel that has a slice of it has fed back, or when the caller says
 * so; then the policy adjusts, with the threshold that `evenstep run` has.
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
    double *load;                  /* as the policy says */
    double *cut;                   /* as it is cut: 0 for who has left */
    struct slice *slice;           /* of the next frame */
    struct completion *completion; /* of the frame that is under way */
};

/* kind->bundles is NULL.  Fails with ES_ENV for want of memory. */
int slice_replay_init(struct slice_replay *s,
                      const struct policy_kind *kind,
                      const double value[],
                      const struct trace_event *open,
                      struct es_error *err);
void slice_replay_clear(struct slice_replay *s);

/* Any event but open, of a channel that is there; frame: the frame is over. */
int slice_replay_apply(struct slice_replay *s,
                       const struct trace_event *e,
                       struct es_error *err);

/* A feedback within a frame that goes on until TRACE_FRAME. */
void slice_replay_hear(struct slice_replay *s, const struct trace_event *e);

/* Units of a channel's next slice. */
int64_t slice_replay_size(const struct slice_replay *s, size_t channel);

#endif
