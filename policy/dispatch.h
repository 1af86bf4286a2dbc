/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dispatch.h - who gets which units of a frame, and when: for a run, which
 * tells it what happens, and for the simulator, which makes it up.
 *
 * A unit is, at any time, in exactly one place: done before this frame was
 * begun, in the pool (held by nobody), waiting (of a node's slice, not sent),
 * or in a piece that is not PIECE_VOID, or in two that are out and each other's
 * copy (speculation.h).  A frame is over when all are done, but for those that
 * were left out, as their command fails (failure.h); so each is in the output
 * exactly once.
 *
 * A size policy's slices wait at their nodes; a node that has nothing left
 * takes from the pool, and then what waits at others (tail.h).  A bundle
 * policy's frame is in the pool at first, and each piece is a bundle; these are
 * sent one ahead of need: a node works at the first that it has out and holds
 * the second, so the wire is never waited for.
 *
 *   d = dispatch_create(nodes, grain, pieces);
 *   dispatch_set_policy(d, kind, state, load);
 *   per frame: dispatch_begin(d, frame, done, n); dispatch_feed(d, 0);
 *   then, and after each event: while ((p = dispatch_next(d))) send it;
 *   an event: dispatch_answered(d, ...), dispatch_lost(d, ...) and so on,
 *             then dispatch_feed_node() or dispatch_feed()
 *
 * Pure but for allocation.  Times are seconds since the frame's start and never
 * go back.  An event cannot fail; what feeds may run out of memory, and then
 * every unit still is in one place.  An event and dispatch_feed_node() cost
 * O(1), but for what is said to be O(n) below.
 */
#ifndef POLICY_DISPATCH_H
#define POLICY_DISPATCH_H

#include "policy/cost.h"
#include "policy/failure.h"
#include "policy/needs.h"
#include "policy/policy.h"
#include "policy/shares.h"
#include "policy/tail.h"
#include "policy/unit_pool.h"

#define DISPATCH_OUT 2 /* pieces that a node has: to work at, and in hand */

/* Pieces that a slice is sent in: as few as noise and costs allow. */
#define DISPATCH_BY_COST 0

/* A start-up that takes less is not worth two commands at once, nor is the
 * time of its end known as well, from looks every 0.05 s. */
#define DISPATCH_OVERLAP_S 0.1

/* Of a shorter time a meter tells the start of the command, not its speed. */
#define DISPATCH_METER_S 0.2

/* Of a frame that grows a piece is of so many units as take so long, or of one: what
 * is behind a long one in its piece waits for it. */
#define DISPATCH_GROWING_S 0.25

/* With an end to keep to, a piece is taken to last so many times longer than it
 * is thought to. */
#define DISPATCH_END_CARE 1.1

enum piece_state {
    PIECE_OUT,      /* sent, not yet answered */
    PIECE_DONE,     /* answered, and it went well */
    PIECE_VOID,     /* lost with its node, failed, or its copy was first: counts
                       for nothing */
    PIECE_LEFT_OUT, /* failed for the last time: its units stay undone */
};

struct dispatch_piece {
    uint64_t id; /* unique in a dispatcher's life, ascending by one */
    size_t node;
    struct slice units;
    unsigned attempt;  /* 1 is the first */
    unsigned failures; /* of the attempts before, by the command itself */
    unsigned forgiven; /* of these: failure.h */
    int is_blamed;     /* this one, too */
    int is_late;       /* by running for too long */
    int is_crowded;    /* it was beside another, and may have had no room */
    int is_excused;    /* its node may be to blame: tried again, not counted */
    int has_twin;      /* another node has, or had, the same units ... */
    uint64_t twin;     /* ... as the piece with this id */
    int is_beaten;     /* which was first: this one was given up then */
    enum piece_state state;
    double sent;
    double back;    /* its answer, or when it was given up; 0: it is out */
    double seconds; /* that the command ran, as it was told with the answer, or
                       by our clock, if none came */
    double cpu;     /* likewise, its CPU time; 0: not known */
    double beside;  /* seconds of these for which its node had two at work */
};

enum standing {
    STANDING_GOOD,
    STANDING_BAD,     /* its commands fail: it gets nothing while others can */
    STANDING_LEAVING, /* does what it works at, and nothing more */
    STANDING_AWAY     /* was lost, and is not back yet */
};

/* Why a node has no work. */
enum idle_reason {
    IDLE_NOT,          /* it has some, or had in this frame */
    IDLE_NO_NEED,      /* it lacks what the profile, or a slot, needs */
    IDLE_NO_SHARE,     /* its load is 0 */
    IDLE_AWAITED,      /* its agent is yet to come */
    IDLE_LOST,         /* it is */
    IDLE_LEAVING,      /* it is to leave the run */
    IDLE_FAILS,        /* commands fail there: others do its part */
    IDLE_FEW_UNITS,    /* a frame of fewer units than nodes */
    IDLE_NOTHING_LEFT, /* the others have what is left */
    IDLE_NO_ROOM,      /* no task that waits fits what it has free (needs.h) */
    IDLE_NO_TIME,      /* nothing would be back by the end */
    IDLE_NO_GAIN,      /* a piece of it would come back last */
    IDLE_REASONS
};

struct dispatch_node {    /* a node's part in the frame */
    struct batch waiting; /* not sent; sent from its front, taken off its end */
    uint64_t slice;       /* units of its own slice */
    uint64_t chunk;       /* waiting, when it was whole: goes in pieces */
    size_t out;           /* pieces out */
    uint64_t got;     /* pieces of this frame so far, whatever came of them */
    size_t elsewhere; /* likewise, of other frames ... */
    int is_awaited;   /* it is yet to come */
    double free;      /* it will have done these, or be here, by then */
    uint64_t piece[DISPATCH_OUT]; /* their ids, in the order of sending */
    uint64_t out_units;
    double begun;      /* when the first of them was begun, at the earliest */
    double metered;    /* units of it that are done, as a meter tells */
    uint64_t done;     /* units */
    double busy;       /* seconds that its commands ran */
    double speed;      /* units per second, as measured last; 0: not known */
    unsigned failures; /* in a row, of its group */
    enum standing standing;
};

/* What feeding fails with. */
enum dispatch_error {
    DISPATCH_NO_MEMORY = -1,
    DISPATCH_NOBODY = -2, /* there are units, and no node that may have them */
    DISPATCH_NO_ROOM = -3 /* ... and none that has what they need (needs.h) */
};

struct dispatch;

/*
 *   nodes   >= 1, all there and good
 *   grain   units that stay together, >= 1
 *   pieces  that a slice is sent in, at most, or DISPATCH_BY_COST
 *
 * NULL if memory ran out.
 */
struct dispatch *dispatch_create(size_t nodes, uint64_t grain, uint64_t pieces);
void dispatch_destroy(struct dispatch *d);
/* Before the first frame.  state is the policy's, load what it gives each node
 * (n values, read whenever slices are cut or nodes come and go); both stay the
 * caller's and must live as long. */
void dispatch_set_policy(struct dispatch *d,
                         const struct policy_kind *kind,
                         void *state,
                         const double load[]);

/* What pieces cost: it is told of each that comes back well, and fitted at a
 * frame's end, or within one while it knows nothing.  The policy's loads, if they
 * differ, are the speeds that it expects.  It stays the caller's, and several
 * dispatchers may share it.  Without one nothing is learned, and slices are not
 * cut by what they cost.  After dispatch_set_policy(), before the first frame. */
void dispatch_set_cost(struct dispatch *d, struct cost *cost);
const struct cost *dispatch_cost(const struct dispatch *d);
/* The loads have changed: the cost is told of the speeds, if they differ. */
void dispatch_tell_speeds(struct dispatch *d);
/* The work of a piece, as the cost is told of it. */
double dispatch_work_of(const struct dispatch *d,
                        const struct dispatch_piece *p);
/* Are pieces as large as what they cost says? */
int dispatch_is_by_cost(const struct dispatch *d);

/* Nodes with the same value (n, the caller's; NULL: none, as at first), which
 * adjoin, are parts of one machine: their failures in a row are counted together,
 * and none is tried again at another one while a machine is left that has not
 * just failed.  Before the first frame. */
void dispatch_set_groups(struct dispatch *d, const size_t group[]);
/* Nodes (n, the caller's; NULL: none, as at first) that get a piece while they
 * work at the one before, once that is no further from its end than a command's
 * start takes: so that is hidden, if it waits.  Others get it when they are free,
 * or one ahead in hand.  Before the first frame; the values may change. */
void dispatch_set_overlap(struct dispatch *d, const char *may);
/* How fast nodes are for a while (n, the caller's; NULL: 1 each, as at first): what
 * pieces cost is learned as if they had a speed of 1.  The values may change. */
void dispatch_set_speeds(struct dispatch *d, const double speed[]);

/* How often what has failed is tried again; without: as long as the caller
 * likes.  Before the first frame. */
void dispatch_set_failure_rule(struct dispatch *d,
                               const struct failure_rule *rule);

/* Pieces that are late are done twice at once where that is faster, see
 * speculation.h.  Before the first frame. */
void dispatch_set_speculation(struct dispatch *d, int on);

/* From now on no piece is begun that would not be back by then, seconds since
 * the frame's start (INFINITY: none is held back, as at first); one that is too
 * large is cut.  What a node may do in that time is known from its pieces: its
 * first is always begun before the end. */
void dispatch_set_end(struct dispatch *d, double end);

/* Of the frames that wait the largest has so many units (0, as at first: not
 * known), which a bundle policy may hear with the next dispatch_begin(). */
void dispatch_expect(struct dispatch *d, uint64_t units);
/*
 * Start a frame, of which done[] (n, ascending) was done before.  It is cut by
 * the loads; one whose load is 0 gets something only if no other is left.  The
 * pieces of the frame before are forgotten.  0, or -1 if memory ran out: then
 * nothing has changed.  O(nodes + n).
 */
int dispatch_begin(struct dispatch *d,
                   struct slice frame,
                   const struct slice done[],
                   size_t n);

/* More units may come to the frame that is begun next, so nothing is to be told from
 * where in it a unit lies; and each is sent alone, as what is behind a long one in its
 * piece would wait, and for how long nobody knows; by what they cost, once that is known,
 * as many as DISPATCH_GROWING_S says.  Before dispatch_begin(); with 0, in
 * the frame, too: no more will come, and pieces are as of others from now on. */
void dispatch_set_growing(struct dispatch *d, int is_growing);
/* They have: such a frame ends there now, and they are in the pool.  0, or -1 if
 * memory ran out: then nothing has changed. */
int dispatch_grow(struct dispatch *d, uint64_t end);

/* Units need cores and memory of their own, see needs.h, of whose lanes and groups the
 * nodes here are: each is sent alone, grain 1, and begun in the order that it has.  It
 * stays the caller's; one dispatcher at a time has a frame with it.  Before the first
 * frame. */
void dispatch_set_needs(struct dispatch *d, struct needs *needs);

/* --- frames side by side -------------------------------------------------- */

/*
 * Frames that are at work at the same time have a dispatcher each.  What
 * happens to a node as such (it is lost, returns, retires, is distrusted) all
 * are told; what becomes of a piece its own is told, and the others then
 * dispatch_share() what that says of the node.
 */

/* Its pieces' ids begin with this one.  Before the first frame. */
void dispatch_number(struct dispatch *d, uint64_t first_id);
/* What another one has learned of a node, this one knows, too. */
void dispatch_share(struct dispatch *d, size_t node, const struct dispatch *of);
/* Seconds until a node has done what it has out and, if that is asked for, what
 * waits for it, too.  What is overdue by some time takes as long again; and what
 * runs at a node that nobody knows, as long as it has. */
double dispatch_busy(const struct dispatch *d,
                     size_t node,
                     double now,
                     int with_waiting);
/* A node has so many pieces of other frames out, and is free for this frame's at
 * that time.  Before dispatch_begin(), too. */
void dispatch_elsewhere(struct dispatch *d,
                        size_t node,
                        size_t out,
                        double free);
/* May frames be cut as one, by what their pieces cost?  Once that is known, and if
 * the loads are only to make all end together. */
int dispatch_can_join(const struct dispatch *d);
/* Work of other frames that nodes may be sent, in units of this one's mean; below
 * 0, as at first: the frame is cut alone.  is_followed: more frames are known to
 * come after these.  Before dispatch_begin(), too: then nobody has a slice of it,
 * and all is in the pool. */
void dispatch_set_beside(struct dispatch *d, double work, int is_followed);
/* Is handing out to a node about to look at what all do, so that what they do of
 * other frames should be told before? */
int dispatch_takes_look(const struct dispatch *d, size_t node, double now);
/* Likewise helping it, which after most pieces it is not. */
int dispatch_help_takes_look(const struct dispatch *d, size_t node, double now);
/* The work that is in the pool, as dispatch_set_beside() wants it. */
double dispatch_pool_work(const struct dispatch *d);
/* A node begins only now with the first piece that it has out. */
void dispatch_turn(struct dispatch *d, size_t node, double now);
/* May a node have one piece more? */
int dispatch_has_room(const struct dispatch *d, size_t node, double now);

/* --- events --------------------------------------------------------------- */

/* The piece, if it is out and with this node, else NULL.  Valid until the next
 * feeding. */
const struct dispatch_piece *dispatch_find(const struct dispatch *d,
                                           size_t node,
                                           uint64_t id);
/* Of a piece the other one with its units, while that is out; else NULL.  If it
 * comes back well, that one is given up, and is_beaten; then two nodes are free,
 * and all are to be fed. */
const struct dispatch_piece *dispatch_twin(const struct dispatch *d,
                                           const struct dispatch_piece *p);
/* A piece that was found has run beside another of its node for so long. */
void dispatch_ran_beside(struct dispatch *d, uint64_t id, double seconds);
/* It has come back, well ... */
void dispatch_answered(
    struct dispatch *d, uint64_t id, double now, double seconds, double cpu);
/* ... or not: by the rule its units are in the pool, whole or in two, or left
 * out. */
void dispatch_failed(struct dispatch *d,
                     uint64_t id,
                     double now,
                     double seconds);
/* It will, as there was no room for two: it is tried again, and not counted. */
void dispatch_crowded(struct dispatch *d, uint64_t id);
/* It runs for too long: if it is lost with its node, that is its command's
 * fault. */
void dispatch_blame(struct dispatch *d, uint64_t id);
/* One that is out is given up, as if it was lost, though its node is not. */
void dispatch_cancel(struct dispatch *d, uint64_t id, double now);
/* Of a piece that is out, and has no copy, only the units before `end` count from
 * now on: the others are in the pool, as if they were lost. */
void dispatch_shorten(struct dispatch *d, uint64_t id, uint64_t end);
/* Of such a piece the first units are done, though it is not: they are a piece of their
 * own from now on, the last one, which has come back after so many seconds; the piece has
 * the others, and began them then.  0, or DISPATCH_NO_MEMORY: all is as it was. */
int dispatch_split(struct dispatch *d,
                   uint64_t id,
                   uint64_t units,
                   double now,
                   double seconds,
                   double cpu);
/* Would it be tried by another node, and not count, if it failed now?  See
 * failure.h. */
int dispatch_doubts(const struct dispatch *d, uint64_t id);
/* What becomes of a piece when it is lost. */
enum failure_verdict dispatch_verdict(const struct dispatch *d, uint64_t id);
/* A fraction of the piece that a node works at is done, so a meter tells; of
 * another piece it is nothing. */
void dispatch_metered(struct dispatch *d,
                      size_t node,
                      uint64_t id,
                      double fraction);
/* A node was stopped for so many seconds: its piece has as much more time. */
void dispatch_moved(struct dispatch *d,
                    size_t node,
                    double seconds,
                    double now);
/* A node is lost: its units go to the pool.  O(n). */
void dispatch_lost(struct dispatch *d, size_t node, double now);
/* A node that was lost is back, as new; the policy knows.  Or one that was awaited
 * is here.  Nothing of another.  O(n). */
void dispatch_returned(struct dispatch *d, size_t node);
/* A node is yet to come, perhaps by then: it has its part in what is cut, so that
 * nobody else is sent that, but nothing is kept for it, and it gets nothing before
 * dispatch_returned().  Before dispatch_begin(), too, and again if it is late. */
void dispatch_await(struct dispatch *d, size_t node, double free);
/* A node finishes the piece that it works at, and gets nothing more.  O(n). */
void dispatch_retire(struct dispatch *d, size_t node, double now);
/* A node's commands fail: the others do its part, if there are any.  O(n). */
void dispatch_distrust(struct dispatch *d, size_t node, double now);
/* A node gives units of those that wait there, at most all, to the pool.  0, or
 * -1 if memory ran out (nothing is given). */
int dispatch_give(struct dispatch *d, size_t node, uint64_t units);

/* --- decisions ------------------------------------------------------------ */

/*
 * Give a node that has room what there is to be had.  To take over what waits
 * at others costs O(n), so many nodes that become idle one soon after the other
 * (pace.h) do so together: then dispatch_wants_look() says so, and the caller
 * feeds all when dispatch_gap() is over.  0 or an enum dispatch_error.
 */
int dispatch_feed_node(struct dispatch *d, size_t node, double now);
/* In two steps: its own part and what is in the pool, ... */
int dispatch_hand(struct dispatch *d, size_t node, double now);
/* ... and what waits at others. */
int dispatch_help(struct dispatch *d, size_t node, double now);
/* The same for all, with one look at the tail: after units have come into the
 * pool, and now and then, as what runs for too long at one node is a reason for
 * others to take over.  O(n log n). */
int dispatch_feed(struct dispatch *d, double now);
/* Likewise in two steps. */
int dispatch_hand_all(struct dispatch *d, double now);
int dispatch_help_all(struct dispatch *d, double now);
/* After that: nodes that are idle while nothing is left to be sent get copies of
 * what is late, if that was asked for.  O(n) for each, and once more. */
int dispatch_speculate(struct dispatch *d, double now);
/* A node is idle, and it was too early for a look. */
int dispatch_wants_look(const struct dispatch *d);
/* Seconds from one look at the tail to the next, at least, and when the last
 * one was taken. */
double dispatch_gap(const struct dispatch *d);
double dispatch_looked(const struct dispatch *d);
/* The next piece that is to be sent, each once, or NULL; valid until the next
 * feeding. */
const struct dispatch_piece *dispatch_next(struct dispatch *d);

/* --- how it stands -------------------------------------------------------- */

size_t dispatch_nodes(const struct dispatch *d);
struct slice dispatch_frame(const struct dispatch *d);
uint64_t dispatch_grain(const struct dispatch *d);
uint64_t dispatch_left(const struct dispatch *d);     /* units yet to be done */
uint64_t dispatch_left_out(const struct dispatch *d); /* never to be */
/* Of the nodes, one each: may it be sent more? */
int dispatch_may_send(const struct dispatch *d, size_t node);
const struct dispatch_node *dispatch_node(const struct dispatch *d,
                                          size_t node);
/* Why it has no work now, of the frame at work; IDLE_NOT if it has some. */
enum idle_reason dispatch_idle(const struct dispatch *d, size_t node);
/* A reason for programs ("few_units"), and for people, behind the node's name ("fewer
 * units than slots"). */
const char *idle_word(enum idle_reason why);
const char *idle_text(enum idle_reason why);
const struct unit_pool *dispatch_pool(const struct dispatch *d);
size_t dispatch_waiting(
    const struct dispatch *d); /* nodes with waiting units */
/* The frame's pieces, in the order of sending. */
size_t dispatch_pieces(const struct dispatch *d);
const struct dispatch_piece *dispatch_piece(const struct dispatch *d, size_t i);
/* The piece that a node works at, or NULL. */
const struct dispatch_piece *dispatch_current(const struct dispatch *d,
                                              size_t node);
/* How far the nodes are, one each; valid until the next call.  O(n). */
const struct tail_node *dispatch_tail(struct dispatch *d, double now);
/* Units that were taken over from other nodes in this frame. */
uint64_t dispatch_taken(const struct dispatch *d);
/* Nodes looked at for tails, in all: what they have cost, whatever the machine.
 */
uint64_t dispatch_work(const struct dispatch *d);

#endif
