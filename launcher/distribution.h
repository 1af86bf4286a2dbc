/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * distribution.h - seed 1's distribution module: cuts a frame into one slice
 * a node in proportion to the job load metric, sends the slices, and gives
 * the unfinished slices of a lost node to the others.
 *
 * It keeps the list of the frame's pieces: every slice that was sent, whatever
 * became of it.  The pieces that are not PIECE_VOID adjoin and are together
 * the whole frame, at any time: so each unit is in the output exactly once.
 */
#ifndef LAUNCHER_DISTRIBUTION_H
#define LAUNCHER_DISTRIBUTION_H

#include "launcher/extraction.h"
#include "launcher/session.h"
#include "launcher/spool.h"
#include "policy/shares.h"

enum piece_state {
    PIECE_OUT,  /* sent, not yet answered */
    PIECE_DONE, /* answered with status 0 */
    PIECE_VOID, /* lost with its node, or failed: counts for nothing */
};

struct piece {
    uint64_t id; /* unique in a run */
    size_t node;
    struct slice slice;
    unsigned attempt; /* 1 is the first */
    enum piece_state state;
    double seconds; /* that the command ran, as its agent measured */
    double back;    /* seconds from the frame's start to its answer */
    int status;     /* exit status of the command; -1 until it is known */
    struct spool out;
};

struct distribution {
    struct session *session;
    uint64_t grain;
    struct frame frame;
    int64_t start_ns; /* of the frame, CLOCK_MONOTONIC */
    struct piece *piece;
    size_t n, cap;
    size_t out;        /* pieces that are PIECE_OUT */
    uint64_t next_id;  /* of the next piece */
    struct slice *cut; /* one a node, workspace */
    double *load;      /* likewise */
};

/* 0, or -1 if memory ran out. */
int distribution_init(struct distribution *d,
                      struct session *session,
                      uint64_t grain);
void distribution_clear(struct distribution *d);
/*
 * Cut and send a frame by load[], one a node; a node that is not present gets
 * nothing, one whose load is 0 something only if no other is left.  The pieces
 * of the frame before are forgotten.  Fails with ES_ENV if no node is left.
 */
int distribution_send(struct distribution *d,
                      const struct frame *frame,
                      const double load[],
                      struct es_error *err);
/* Void what a lost node had not finished and send it to the others. */
int distribution_lost(struct distribution *d,
                      size_t node,
                      const double load[],
                      struct es_error *err);
/* The piece of this id, if it is out and with this node, else NULL. */
struct piece *distribution_find(struct distribution *d,
                                size_t node,
                                uint64_t id);
/* CLOCK_MONOTONIC in nanoseconds. */
int64_t clock_ns(void);

#endif
