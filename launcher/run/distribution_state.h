/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * distribution_state.h - what the files of the distribution share; for them
 * alone.
 *
 *   distribution_frames.c  its life, its frames, and how it stands
 *   distribution_nodes.c   what the nodes say, and what befalls them
 *   distribution_feed.c    what the window (policy/window.h) gives out
 *   distribution_pieces.c  pieces, and how they are sent
 *   distribution_part.c    how a node stands, for people
 */
#ifndef LAUNCHER_RUN_DISTRIBUTION_STATE_H
#define LAUNCHER_RUN_DISTRIBUTION_STATE_H

#include "launcher/run/distribution.h"
#include "launcher/run/job_load_adjuster.h"
#include "launcher/session/mailing.h"
#include "pmix_bcast/clock.h"
#include "policy/window.h"

#include <math.h>

/* A piece's id is its place in the window, and its number there. */
#define PLACE_SHIFT 56
#define TYPE_SHIFT  48 /* likewise of the dispatchers of a place */
_Static_assert(AHEAD_MAX < UINT64_C(1) << (64 - PLACE_SHIFT),
               "each place has ids of its own");

struct at_work { /* a frame of the window */
    struct frame frame;
    struct window_frame *in; /* it, by the clock of clock_ns() in seconds */
    struct dispatch *of[WORK_TYPES_MAX];
    struct piece *piece; /* as many as the dispatcher has handed out */
    size_t n, room;
};

/* A slot that works at two pieces. */
struct both {
    int64_t since_ns; /* when it began the second, last */
    double before;    /* seconds that the one at work had run so before */
};

struct distribution {
    struct session *session;
    const struct slots *slots;
    struct job_load_adjuster *adjuster; /* types */
    const struct lines *lines; /* for the commands' stdin; NULL: none */
    struct window window;      /* frames at work; a node there is a slot here */
    struct at_work *place;     /* what else belongs to its places */
    uint64_t pieces;           /* that a slice is sent in, at most */
    struct needs *needs;       /* NULL: none */
    double begun;              /* when the run's first frame was; 0: not yet */
    int64_t answered_ns;       /* when the last piece was */
    /* One a slot; NULL: no slot may begin its next piece before its last. */
    char *overlap;           /* may it? */
    struct both *both;       /* when it did last */
    double *awaited;         /* one a slot: see policy/window.h; NULL: none */
    int64_t end_ns;          /* of all that is sent; INT64_MAX: none */
    int (*comes)(void *arg); /* will a node be here? */
    void *comes_arg;
    int only_plans;      /* nothing is sent */
    struct mailing runs; /* that are to be sent; begun with the first of them */
    size_t types; /* of work: each has dispatchers and costs of its own */
    struct cost *cost[WORK_TYPES_MAX];
};

static inline struct at_work *nth(const struct distribution *d, size_t i)
{
    return &d->place[window_place(&d->window, i)];
}

static inline double seconds_of(int64_t ns)
{
    return (double)ns * 1e-9;
}

/* Seconds since the frame's start. */
static inline double since(const struct at_work *w, int64_t ns)
{
    return seconds_of(ns) - w->in->start;
}

static inline double now(const struct at_work *w)
{
    return since(w, clock_ns());
}

/* --- pieces --------------------------------------------------------------- */

/* What has come back of it. */
void distribution_forget_results(struct piece *p);
/* The frame at work that a piece is of; NULL if there is none. */
struct at_work *distribution_frame_of_piece(const struct distribution *d,
                                            uint64_t id);
/* Of a dispatcher's piece what is known here; NULL if it was never sent. */
struct piece *distribution_piece_of(const struct at_work *w, uint64_t id);
/* The dispatcher has changed it. */
struct piece *distribution_renew(struct at_work *w, uint64_t id);
/* Pieces that a slot has out. */
size_t distribution_slot_out(const struct distribution *d, size_t slot);
/* The frame whose piece a node works at, which is what it was sent first; NULL:
 * it has none. */
struct at_work *distribution_working_at(const struct distribution *d,
                                        size_t slot);
/* What feeding has given out, or why it could not. */
int distribution_send_all(struct distribution *d,
                          struct at_work *w,
                          int fed,
                          struct es_error *err);

/* --- feeding -------------------------------------------------------------- */

/* Where the window sends what it gives out, and what failed. */
struct to_nodes {
    struct distribution *d;
    struct es_error *err;
};
#define TO_NODES(d, err)                                                       \
    (&(const struct window_sender){distribution_send_given,                    \
                                   &(struct to_nodes){d, err}})
int distribution_send_given(void *arg, size_t place, int fed);

#endif
