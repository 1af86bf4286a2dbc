/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * distribution.h - the distribution module: sends the nodes what the dispatcher
 * (policy/dispatch.h) gives them, and tells it what they answer.
 *
 * What it decides stands there; here are the session, the clock, and of each
 * piece what has come back.
 *
 * A node here is the session's.  What the dispatcher calls one is a slot of it
 * (slots.h), and so is part.node of a piece.
 *
 * Several frames may be at work: a window of them (policy/window.h), each with a
 * dispatcher of its own.  A slot here is a node there.
 */
#ifndef LAUNCHER_RUN_DISTRIBUTION_H
#define LAUNCHER_RUN_DISTRIBUTION_H

#include "launcher/run/frame.h"
#include "launcher/run/slots.h"
#include "launcher/run/work_types.h"
#include "launcher/session/session.h"

#define AHEAD_MAX 100 /* later frames: their output waits, spooled */

struct distribution;
struct job_load_adjuster;
struct lines;

/* slots: of the session's nodes, which must outlive d.  pieces: that a slice is
 * sent in, at most.  ahead: later frames at work, at most.  NULL if memory ran
 * out. */
struct distribution *distribution_create(struct session *session,
                                         const struct slots *slots,
                                         uint64_t grain,
                                         uint64_t pieces,
                                         uint64_t ahead);
void distribution_destroy(struct distribution *d); /* NULL is allowed */
/* Frames are of so many types, at most WORK_TYPES_MAX (1, as at first), of which
 * none learns from another.  Right after distribution_create(); 0, or -1 if
 * memory ran out. */
int distribution_set_types(struct distribution *d, size_t n);
/* See dispatch_set_failure_rule(); before the first frame. */
void distribution_set_failure_rule(struct distribution *d,
                                   const struct failure_rule *rule);
/* Slots may begin a piece while they work at the one before, see
 * dispatch_set_overlap(); those of a node on which that fails for want of memory
 * do not any more.  Before the first frame; 0, or -1 if memory ran out. */
int distribution_set_overlap(struct distribution *d);
/* See dispatch_set_speeds(), one a slot. */
void distribution_set_speeds(struct distribution *d, const double speed[]);
/* See dispatch_set_needs(): of slots that are cores; one frame at a time.  Before the
 * first frame. */
void distribution_set_needs(struct distribution *d, struct needs *needs);
/* See dispatch_set_speculation(); before the first frame. */
void distribution_set_speculation(struct distribution *d);
/* The nodes are known: those that are present now work, by the adjusters' loads,
 * one a type; lines are for the commands' stdin, NULL: none.  Both must outlive d.
 * To be called before the first frame. */
void distribution_begin(struct distribution *d,
                        struct job_load_adjuster *adjuster,
                        const struct lines *lines);
/* Where no node is left it waits, if comes(arg) says that one will be: before the
 * first frame, and arg must outlive it. */
void distribution_set_comes(struct distribution *d,
                            int (*comes)(void *arg),
                            void *arg);
/* No piece is begun that would not be back by then, as of clock_ns();
 * INT64_MAX: as at first, whenever.  See dispatch_set_end(). */
void distribution_set_end(struct distribution *d, int64_t end_ns);
/* Pieces that are out with any node. */
size_t distribution_all_out(const struct distribution *d);
/* Units of the frames at work that are yet to be done. */
uint64_t distribution_left(const struct distribution *d);
/* From now on nothing is sent, but all is as if it were. */
void distribution_only_plan(struct distribution *d);

/* --- frames --------------------------------------------------------------- */

/* May another one begin: as nothing is at work, or as a node has nothing left?
 * After distribution_feed(), _feed_slot() and _close(). */
int distribution_wants_frame(const struct distribution *d);
/*
 * Start a frame, of which done[] (n, ascending) was done before; see
 * dispatch_begin().  Fails with ES_ENV if no node is left.
 */
int distribution_send(struct distribution *d,
                      const struct frame *frame,
                      const struct slice done[],
                      size_t n,
                      struct es_error *err);

/* Units have come to the frame that has begun last, or no more will: to is it as it is
 * now.  They are sent. */
int distribution_grow(struct distribution *d,
                      const struct frame *to,
                      struct es_error *err);

/* Likewise one of which nothing is to be done: it only waits for its turn. */
void distribution_keep(struct distribution *d, const struct frame *frame);
/* There is none to be had for now: nodes that have nothing left help others ...
 */
int distribution_no_frame(struct distribution *d, struct es_error *err);
/* ... until there may be one again. */
int distribution_ask(struct distribution *d, struct es_error *err);
/* Frames that are at work, or wait. */
size_t distribution_open(const struct distribution *d);
/* The one that has begun last, and how many units are left of it. */
const struct frame *distribution_newest(const struct distribution *d,
                                        uint64_t *left);
/* Is the first one done?  And was it before? */
int distribution_is_done(const struct distribution *d);
int distribution_is_kept(const struct distribution *d);
/* The run has failed: what is out of the first is given up, and how long it was at
 * work so far, in seconds. */
double distribution_give_up(struct distribution *d);
/* Likewise without the first, and nothing more is sent. */
void distribution_drop(struct distribution *d);
/* It is, and has come out: the next one is the first. */
int distribution_close(struct distribution *d, struct es_error *err);

/* --- what the nodes say --------------------------------------------------- */

/* A piece that the node has out and that counts, or NULL. */
struct piece *distribution_piece(struct distribution *d,
                                 size_t node,
                                 uint64_t id);
/* OUTPUT of a piece; of one that does not count any more it is nothing. */
int distribution_output(struct distribution *d,
                        size_t node,
                        const struct msg_output *m,
                        struct es_error *err);
/* DONE of a piece, which is returned: PIECE_DONE, or else PIECE_VOID or
 * PIECE_LEFT_OUT, valid until the next is sent; NULL if it does not count any
 * more.  Has its command done it? */
struct piece *distribution_done(struct distribution *d,
                                size_t node,
                                const struct msg_done *m,
                                int is_done);
/* Of a piece that a node has out the first units are done, though it is not: it has
 * only these from now on, and the others are to be done.  0, or -1: it has a
 * copy, and stays as it is. */
int distribution_cut(struct distribution *d, struct piece *p, uint64_t units);
/* Likewise these are done, and a piece of their own from now on, which has what it has
 * sent: it is returned.  p is where it was, with `rest` for what it has sent, or NULL is
 * returned: no memory, or it has a copy. */
struct piece *distribution_split(struct distribution *d,
                                 struct piece *p,
                                 uint64_t units,
                                 const struct msg_done *took,
                                 const struct spool *rest);
/* The copy of a piece that has come back well, if it was at work until then: it
 * is ended, and what it still sends does not count.  Else NULL. */
struct piece *distribution_beaten(struct distribution *d,
                                  const struct piece *p);
/* Would another node try it, and it not count, if it failed now?  See failure.h. */
int distribution_doubts(const struct distribution *d, const struct piece *p);
/* What has become, or will, of a piece that has failed or is overdue. */
enum failure_verdict distribution_verdict(const struct distribution *d,
                                          const struct piece *p);
/* Send a slot more, right after its DONE.  When distribution_wants_look() says
 * so afterwards, distribution_feed() is to be called in distribution_gap_ns().
 */
int distribution_feed_slot(struct distribution *d,
                           size_t slot,
                           struct es_error *err);
int distribution_wants_look(const struct distribution *d);
int64_t distribution_gap_ns(const struct distribution *d);
/* Send all what there is to be had: after a piece has failed, and now and
 * then. */
int distribution_feed(struct distribution *d, struct es_error *err);
/* See dispatch_metered().  The slot that works at the piece, or SIZE_MAX if it
 * does not count any more. */
size_t distribution_metered(struct distribution *d,
                            size_t node,
                            uint64_t id,
                            double fraction);
/* A slot gives units of those that wait there of the first frame, at most all,
 * to the pool. */
int distribution_give(struct distribution *d,
                      size_t slot,
                      uint64_t units,
                      struct es_error *err);
/* A node was stopped for so long: its pieces have as much more time. */
void distribution_move(struct distribution *d, size_t node, int64_t ns);

/* --- nodes come and go ---------------------------------------------------- */

/* A node is yet to come, since then: it has its part in what is cut, and gets it
 * from distribution_joined() on.  Before distribution_begin().  0, or -1: no
 * memory. */
int distribution_await(struct distribution *d, size_t node, int64_t since_ns);
/* A node is lost: its units go to the others. */
int distribution_lost(struct distribution *d,
                      size_t node,
                      struct es_error *err);
/* A node that was lost is back, as new; the adjuster knows its load. */
int distribution_returned(struct distribution *d,
                          size_t node,
                          struct es_error *err);
/* Likewise one that has joined, or was awaited: what its speed is expected to be is by its load
 * beside the others'. */
int distribution_joined(struct distribution *d,
                        size_t node,
                        struct es_error *err);
/* A node finishes the pieces that it works at, and gets nothing more. */
int distribution_retire(struct distribution *d,
                        size_t node,
                        struct es_error *err);
/* A node's commands fail: the others do its part, if there are any, once they
 * are fed. */
void distribution_distrust(struct distribution *d, size_t node);
/* A slot that works at one piece for longer, and that piece, told once, and
 * from then on as one that has failed with that status; NULL if there is none.
 * is_late: may the node be given up, or is it to be asked first? */
struct piece *distribution_overdue(struct distribution *d,
                                   int64_t limit_ns,
                                   int status,
                                   int (*is_late)(void *arg, size_t node),
                                   void *arg);

/* Such a piece's command is ended; without its node, which goes on. */
void distribution_cancel(struct distribution *d, const struct piece *p);

/* --- how it stands -------------------------------------------------------- */

const struct slots *distribution_slots(const struct distribution *d);

/* A node's part in the frames at work. */
struct distribution_part {
    size_t slots, running;       /* of these, those that have a piece */
    uint64_t done, out, waiting; /* units: of its own, sent, and not sent */
    double underway;             /* of those sent: probably done */
    double rate;                 /* units a second; 0: not known */
    double left;                 /* seconds until all is done; -1: not known */
    enum standing standing;      /* the worst of its slots */
    enum idle_reason why;        /* none of them runs; else IDLE_NOT */
};

/* O(slots of the node). */
struct distribution_part distribution_part(const struct distribution *d,
                                           size_t node);
/* Why a node, of its slots one as the other, has done nothing of the first frame so far,
 * and has nothing of it.  IDLE_NOT if it has, or has done, any. */
enum idle_reason distribution_idle(const struct distribution *d, size_t node);
/* The piece that a slot works at, and when it began with it, at the earliest
 * (CLOCK_MONOTONIC); NULL: none. */
const struct piece *distribution_at_work(const struct distribution *d,
                                         size_t slot,
                                         int64_t *begun_ns);
/* Pieces that a node's slots have out, of all frames. */
size_t distribution_out(const struct distribution *d, size_t node);
/* Of the first frame, or the one that has come out last: */
const struct frame *distribution_frame(const struct distribution *d);
/* When it began, which its pieces' times count from; CLOCK_MONOTONIC. */
int64_t distribution_start_ns(const struct distribution *d);
/* Likewise, in seconds since the run's first frame did. */
double distribution_began(const struct distribution *d);
/* What its pieces cost, as learned so far. */
struct cost *distribution_cost(const struct distribution *d);
/* The same of a type, whatever frame is the first. */
struct cost *distribution_cost_of(const struct distribution *d, size_t type);
const struct dispatch *distribution_dispatch(const struct distribution *d);
/* How far the slots are, one each; valid until the next call on d. */
const struct tail_node *distribution_tail(struct distribution *d);
/* The frame's pieces, in the order of sending. */
struct piece *distribution_pieces(struct distribution *d, size_t *n);
/* The name of a slot's node. */
const char *distribution_name(const struct distribution *d, size_t slot);
/* The name of a node; "": of a seat that nobody has had yet. */
const char *distribution_node(const struct distribution *d, size_t node);

#endif
