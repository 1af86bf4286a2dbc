/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iteration.h - the frames of a program under `srun --evenstep`, which brings
 * its work along (evenstep.h): each frame is all of its units, cut over the
 * step's nodes by the policy, and begins when every task asks for its part.
 *
 * Where the program says that it survives the loss of nodes
 * (EVENSTEP_SURVIVES), what a lost node had of a frame is cut over the others
 * when they have done theirs, in one more round of the same frame; and one that
 * is back takes part from the next frame on.  Else the loss ends the frames.
 *
 * What a node's time is its agent measures, from handing out to done: what the
 * tasks do between frames is nobody's.
 */
#ifndef LAUNCHER_RUN_ITERATION_H
#define LAUNCHER_RUN_ITERATION_H

#include "launcher/config/policy_option.h"
#include "launcher/run/history.h"
#include "launcher/run/job_load_adjuster.h"
#include "launcher/run/turns.h"
#include "launcher/session/session.h"
#include "policy/shares.h"
#include "policy/threshold.h"

/* How a node takes part. */
enum part {
    PART_FULL,
    PART_LOST,
    PART_BACK, /* and asks: from the next frame on */
};

struct iteration {
    struct session *session;
    const struct metric *metric; /* as the nodes were measured */
    size_t n;                    /* nodes */
    struct job_load_adjuster adjuster;
    struct threshold_rule threshold;
    struct threshold_noise noise;
    struct history history;        /* of all frames */
    struct turns turns;            /* of the work, and of limits */
    struct completion *completion; /* one a node, of this frame */
    struct slice *cut;             /* likewise, of this round */
    struct slice *left; /* n_left: what lost nodes had of the frame */
    size_t n_left;
    enum part *part;   /* one a node */
    const char *unfit; /* likewise: its tasks get empty slices; NULL: none */
    char *awaited;     /* one a node: its answer is */
    size_t missing;
    struct msg_idle work; /* units 0: not yet known */
    uint64_t frame;       /* the one at work, or the next */
    uint64_t round;       /* the one at work; its MSG_RUNs go by it */
    int running;          /* it is at work */
    int over;
    uint32_t error; /* if it is over */
};

/* metric and profile as of job_load_adjuster_init(); policy, metric, unfit (a byte a
 * node: not 0 where it is to get no work; NULL: nowhere) and steering, which sets
 * limits to its nodes (NULL: none does), must outlive it.  Fails with ES_ENV; it is
 * to be cleared in any case. */
int iteration_init(struct iteration *it,
                   struct session *session,
                   const struct policy_option *policy,
                   const struct threshold_rule *threshold,
                   const struct metric metric[],
                   const struct profile *profile,
                   const char *unfit,
                   struct steering *steering,
                   struct es_error *err);
/* {0} is allowed. */
void iteration_clear(struct iteration *it);
/* IDLE, DONE or OVER of a node. */
void iteration_message(struct iteration *it,
                       size_t node,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len);
/* A node is lost, and the program's tasks there may be with it. */
void iteration_lost(struct iteration *it, size_t node);
/* Its agent is back; IDLE follows if the tasks are still there. */
void iteration_returned(struct iteration *it, size_t node);

#endif
