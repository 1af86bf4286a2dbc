/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * distribution.h - seed 1's distribution module: cuts a frame into one slice
 * a node in proportion to the job load metric, sends the slices in pieces, and
 * gives the units of a node that is lost, or late, to the others.
 *
 * A unit is, at any time, in exactly one place: done before this run, in the
 * pool (held by nobody), waiting (of a node's slice, not sent), or in a piece
 * that is not PIECE_VOID.  A frame is over when all are done; so each is in the
 * output exactly once.
 *
 * A size policy's slices wait at their nodes; a node that has nothing left
 * takes from the pool, and then what waits at others (policy/tail.h).  A bundle
 * policy's frame is in the pool at first, and each piece is a bundle; these are
 * sent one ahead of need: a node works at the first that it has out and holds
 * the second, so the wire is never waited for.
 */
#ifndef LAUNCHER_RUN_DISTRIBUTION_H
#define LAUNCHER_RUN_DISTRIBUTION_H

#include "launcher/base/spool.h"
#include "launcher/run/extraction.h"
#include "policy/unit_pool.h"
#include "launcher/session/session.h"
#include "policy/shares.h"
#include "policy/tail.h"

struct job_load_adjuster;
struct lines;

enum piece_state {
    PIECE_OUT,  /* sent, not yet answered */
    PIECE_DONE, /* answered with status 0 */
    PIECE_VOID, /* lost with its node, or failed: counts for nothing */
};

struct piece {
    uint64_t id; /* unique in a run */
    size_t node;
    struct slice slice;
    unsigned attempt;  /* 1 is the first */
    unsigned failures; /* of the attempts before, by the command itself */
    enum piece_state state;
    int64_t sent_ns; /* CLOCK_MONOTONIC */
    double seconds;  /* that the command ran, as its agent measured */
    double back;     /* seconds from the frame's start to its answer */
    int status;      /* exit status of the command; -1 until it is known */
    struct spool out;
};

enum standing {
    STANDING_GOOD,
    STANDING_BAD,     /* its commands fail: it gets nothing while others can */
    STANDING_LEAVING, /* does what it works at, and nothing more */
    STANDING_AWAY     /* was lost, and is not (or not measured) again */
};

struct share {            /* a node's part in the frame */
    struct batch waiting; /* not sent; sent from its front, taken off its end */
    uint64_t slice;       /* units of its own slice */
    uint64_t chunk;       /* waiting, when it was whole: goes in pieces */
    size_t out;           /* pieces out */
    uint64_t out_units;
    int64_t begun_ns;  /* when the first of them was begun, at the earliest */
    double metered;    /* units of it that are done, as a meter tells */
    uint64_t done;     /* units */
    double busy;       /* seconds that its commands ran */
    double speed;      /* units per second, as measured last; 0 = not known */
    unsigned failures; /* in a row */
    enum standing standing;
};

struct distribution {
    struct session *session;
    struct job_load_adjuster *adjuster;
    const struct lines *lines; /* for the commands' stdin; NULL: none */
    uint64_t grain, pieces;    /* a slice goes in so many, at most */
    struct frame frame;
    int64_t start_ns; /* of the frame, CLOCK_MONOTONIC */
    uint64_t left;    /* units that are not done */
    struct piece *piece;
    size_t n, cap;
    size_t first_out; /* pieces before it are not out */
    size_t out;       /* pieces that are PIECE_OUT */
    uint64_t next_id; /* of the next piece */
    double delay;     /* seconds that a piece is on its way, to and fro */
    struct unit_pool pool;
    /* one a node */
    struct share *share;
    double *load;           /* 0: gets nothing */
    double loads;           /* their sum */
    struct slice *cut;      /* workspace */
    struct tail_node *tail; /* likewise */
    struct tail_late *room; /* likewise, of the look */
    struct tail_look look;
    int64_t looked_ns; /* when it was taken last */
    int hungry;        /* a node is idle, and it was too early for a look */
};

/* pieces: that a slice is sent in, at most.  0, or -1 if memory ran out. */
int distribution_init(struct distribution *d,
                      struct session *session,
                      uint64_t grain,
                      uint64_t pieces);
void distribution_clear(struct distribution *d);
/*
 * Start a frame, of which done[] (n, ascending) was done before.  It is cut by
 * the adjuster's loads; a node that is not present gets nothing, one whose load
 * is 0 something only if no other is left.  The pieces of the frame before are
 * forgotten.  Fails with ES_ENV if no node is left.
 */
int distribution_send(struct distribution *d,
                      const struct frame *frame,
                      const struct slice done[],
                      size_t n,
                      struct es_error *err);
/* A piece has come back, well or (PIECE_VOID, its units are in the pool) not.
 */
int distribution_settle(struct distribution *d,
                        struct piece *p,
                        enum piece_state state,
                        struct es_error *err);
/*
 * Send a node that has room what there is to be had.  To take over what waits
 * at others costs O(n), so many nodes that become idle one soon after the other
 * (policy/pace.h) do so together: then d->hungry is set, and the caller calls
 * distribution_feed() when distribution_gap_ns() are over.
 */
int distribution_feed_node(struct distribution *d,
                           size_t node,
                           struct es_error *err);
/* The same for all, with one look at the tail: after units have come into the
 * pool, and now and then, as what runs for too long at one node is a reason for
 * others to take over.  O(n log n). */
int distribution_feed(struct distribution *d, struct es_error *err);
/* From one look at the tail to the next, at least. */
int64_t distribution_gap_ns(const struct distribution *d);
/* A fraction of the piece that a node works at is done, so a meter tells; of
 * another piece it is nothing. */
void distribution_metered(struct distribution *d,
                          size_t node,
                          uint64_t id,
                          double fraction);
/* How far the nodes are, one each; valid until the next call on d. */
const struct tail_node *distribution_tail(struct distribution *d);
/* A node gives units of those that wait there, at most all, to the pool. */
int distribution_give(struct distribution *d,
                      size_t node,
                      uint64_t units,
                      struct es_error *err);
/* A node is lost: its units go to the others. */
int distribution_lost(struct distribution *d,
                      size_t node,
                      struct es_error *err);
/* A node that was lost is back, as new; its load is the adjuster's. */
int distribution_returned(struct distribution *d,
                          size_t node,
                          struct es_error *err);
/* A node finishes the piece that it works at, and gets nothing more. */
int distribution_retire(struct distribution *d,
                        size_t node,
                        struct es_error *err);
/* A node's commands fail: the others do its part, if there are any. */
int distribution_distrust(struct distribution *d,
                          size_t node,
                          struct es_error *err);
/* Is the node one of those that do the frames? */
int distribution_has(const struct distribution *d, size_t node);
/* May it be sent more? */
int distribution_may_send(const struct distribution *d, size_t node);
/* A node that works at one piece for longer, and that piece; NULL if there is
 * none.  status: what such a piece is given, so that it is told once; is_late:
 * may the node be given up, or is it to be asked first? */
struct piece *distribution_overdue(struct distribution *d,
                                   int64_t limit_ns,
                                   int status,
                                   int (*is_late)(void *arg, size_t node),
                                   void *arg);
/* A node was stopped for so long: its piece has as much more time. */
void distribution_move(struct distribution *d, size_t node, int64_t ns);
/* The piece that a node works at, or NULL. */
struct piece *distribution_current(struct distribution *d, size_t node);
/* The piece of this id, if it is out and with this node, else NULL. */
struct piece *distribution_find(struct distribution *d,
                                size_t node,
                                uint64_t id);

#endif
