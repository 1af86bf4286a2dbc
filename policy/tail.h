/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tail.h - the last part of a frame: a node that has finished takes over what a
 * slow one has not begun.
 *
 * A node's slice is sent in pieces, each when the one before is back, as a
 * piece in hand could not be taken any more.  What is not yet sent is waiting,
 * and can be taken, from its end and in whole grains.  An idle node takes from
 * the node that would finish last, and so much that both finish together;
 * nothing if that makes the frame no shorter.  What was taken is the taker's
 * waiting, and may be taken again.
 *
 * These are decisions only: who holds what, and that a result counts once, is
 * the launcher's.
 */
#ifndef POLICY_TAIL_H
#define POLICY_TAIL_H

#include <stddef.h>
#include <stdint.h>

/* To start a piece takes time and so does a large one, at a node that has
 * become slow, at the end of a frame: the sum is least with pieces of the
 * square root of the slice's seconds times this many.  It is some thirty times
 * what a small program takes to start: more, and a slow node is helped late;
 * less, and it costs frames where nothing happens.  Chosen by `evenstep
 * simulate balance` and measured by contrib/bench pieces. */
#define TAIL_PIECE_S 0.1
/* Unless told, at most so many. */
#define TAIL_PIECES 16

struct tail_node {
    double speed;     /* units per second, as measured last; 0 = not known */
    uint64_t running; /* units sent and not yet back */
    double since;     /* seconds since the first of them was begun; below 0: it
                         works at other frames for so long */
    uint64_t waiting; /* units not sent: to be taken; 0 if it has left */
};

struct tail_move {
    size_t from;
    uint64_t units; /* off the end of what waits there */
};

/*
 * Pieces that a slice goes in, which the node would take so many seconds for;
 * 0 or less: not known.  From 1 to most, which is also the answer then.
 */
uint64_t tail_pieces(double seconds, uint64_t most);

/*
 * Units to send next of a node's waiting ones: a slice goes in `pieces` equal
 * pieces, rounded up to grains.
 *
 *   slice    units of the whole slice
 *   grain    >= 1
 *   pieces   >= 1
 *
 * Returns at most waiting, 0 only if that is 0.
 */
uint64_t tail_piece(uint64_t slice,
                    uint64_t waiting,
                    uint64_t grain,
                    uint64_t pieces);

/*
 * One look at the tail for all nodes that are idle, as a front end of thousands
 * takes it: who would finish last is on top of a heap, so that an idle node
 * costs O(log n).
 *
 * A running part that is overdue says that the node's speed has fallen: it is
 * then what would just be due.  A speed that is not known counts as the mean.
 */
struct tail_late {
    double end; /* seconds until it has done all that it holds */
    size_t node;
};
struct tail_look {
    struct tail_node *node; /* the caller's; as it is after the last move */
    double mean;            /* speed of a node whose own is not known */
    struct tail_late *heap; /* with something to take, the last one first */
    size_t waiting;         /* of them */
    uint64_t work; /* nodes and places of the heap that were looked at, of all
                      looks: what they have cost, whatever the machine */
};

/* node[] and room, of n, stay the caller's; l->work goes on, so *l is zero
 * before the first.  O(n). */
void tail_look_begin(struct tail_look *l,
                     struct tail_node node[],
                     size_t n,
                     struct tail_late room[]);
/*
 * What is an idle node to take over?
 *
 *   idle   has nothing running nor waiting
 *   delay  seconds until it could begin
 *
 * Returns 1 and *move, and tail_look_begun() must follow; or 0 if taking over
 * would not help.  O(log n).
 */
int tail_look_take(struct tail_look *l,
                   size_t idle,
                   uint64_t grain,
                   double delay,
                   struct tail_move *move);
/* The idle node now runs so many of the units that it has taken; the others
 * wait there and may be taken again.  O(log n). */
void tail_look_begun(struct tail_look *l, size_t idle, uint64_t running);

/*
 * The seconds that a node would have needed for its whole slice, had it neither
 * taken nor given: what the policy and the threshold must hear, as with takers
 * all nodes finish together however wrong the slices are.  0 if it did nothing.
 *
 *   done     units it did, its own and others'
 *   seconds  from the frame's start to its last response
 */
double tail_unaided(uint64_t slice, uint64_t done, double seconds);

#endif
