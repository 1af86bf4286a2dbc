/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * distribution_state.h - what the files of the distribution share; for them
 * alone.
 *
 *   distribution_frames.c  its life, its frames, and how it stands
 *   distribution_nodes.c   what the nodes say, and what befalls them
 *   distribution_feed.c    which frame a node with room gets something of
 *   distribution_pieces.c  pieces, and how they are sent
 *   distribution_part.c    how a node stands, for people
 */
#ifndef LAUNCHER_RUN_DISTRIBUTION_STATE_H
#define LAUNCHER_RUN_DISTRIBUTION_STATE_H

#include "launcher/run/distribution.h"
#include "launcher/run/job_load_adjuster.h"
#include "launcher/session/mailing.h"
#include "pmix_bcast/clock.h"

#include <math.h>

/* A piece's id is its place in the window, and its number there. */
#define PLACE_SHIFT 56
#define TYPE_SHIFT  48 /* likewise of the dispatchers of a place */
_Static_assert(AHEAD_MAX < UINT64_C(1) << (64 - PLACE_SHIFT),
               "each place has ids of its own");

struct at_work { /* a frame of the window */
    struct frame frame;
    struct dispatch *dispatch; /* of its type */
    struct dispatch *of[WORK_TYPES_MAX];
    int64_t start_ns;    /* CLOCK_MONOTONIC */
    struct piece *piece; /* as many as the dispatcher has handed out */
    size_t n, room;
    int is_kept; /* a run before has done all of it */
};

struct distribution {
    struct session *session;
    const struct slots *slots;
    struct job_load_adjuster *adjuster; /* types */
    const struct lines *lines; /* for the commands' stdin; NULL: none */
    /* A ring; the first frame is the next that comes out. */
    struct at_work *place;
    size_t places, first, n;
    int is_over;         /* the only one that is left has come out */
    int wants_frame;     /* a node has nothing left of those at work */
    int is_dry;          /* and there is none to be had */
    int is_followed;     /* others are known to come after the newest */
    uint64_t pieces;     /* that a slice is sent in, at most */
    int64_t begun_ns;    /* when the run's first frame was */
    int64_t answered_ns; /* when the last piece was */
    /* One a slot; NULL: no slot may begin its next piece before its last. */
    char *overlap;       /* may it? */
    int64_t *both_ns;    /* when it did last */
    int64_t end_ns;      /* of all that is sent; INT64_MAX: none */
    int only_plans;      /* nothing is sent */
    struct mailing runs; /* that are to be sent; begun with the first of them */
    int speculates;      /* what is late is done twice at once */
    size_t types; /* of work: each has dispatchers and costs of its own */
    struct cost *cost[WORK_TYPES_MAX];
};

static inline struct at_work *nth(const struct distribution *d, size_t i)
{
    return &d->place[(d->first + i) % d->places];
}

static inline int is_done(const struct at_work *w)
{
    return w->is_kept || dispatch_left(w->dispatch) == 0;
}

static inline double seconds_of(int64_t ns)
{
    return (double)ns * 1e-9;
}

/* Seconds since the frame's start. */
static inline double since(const struct at_work *w, int64_t ns)
{
    return seconds_of(ns - w->start_ns);
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

/* Are later frames to begin as soon as there is room, as all are cut as one? */
int distribution_joins(const struct distribution *d);

void distribution_tell_all_elsewhere(const struct distribution *d,
                                     const struct at_work *w,
                                     int64_t ns);
/* Is there room for another frame, and perhaps one to be had? */
int distribution_may_begin(const struct distribution *d);
/* To begin a later frame is better than to help. */
int distribution_feed_at(struct distribution *d,
                         int64_t ns,
                         struct es_error *err);

#endif
