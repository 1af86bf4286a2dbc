/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window.h - frames at work side by side: which of them a node that has room gets
 * something of, and when another one is to begin.
 *
 * The first is the next that comes out; the later ones are "ahead".  A node gets
 * its own part of each, in their order; then another frame is asked for; and when
 * there is none it helps with the first that it can help with.  A frame that is
 * done before the first one waits for it.
 *
 * Once it is known what pieces cost, frames begin as soon as there is room, and
 * what is left of all of them is cut as one (sizing.h): a node starts a command
 * once where it would start one in each frame.
 *
 *   window_init(w, place, places, nodes);
 *   while (window_wants_frame(w))
 *       window_add(w, ...) and window_begin(w, ...), or window_no_frame(w, ...)
 *   an event: tell the frame's dispatcher, then window_feed_node()
 *   while (window_is_done(w)) the first comes out: window_close(w, ...)
 *
 * Pure, without allocation of its own.  Times are seconds of one clock of the
 * caller's, which never goes back.
 */
#ifndef POLICY_WINDOW_H
#define POLICY_WINDOW_H

#include "policy/dispatch.h"

struct window_frame {
    struct dispatch *dispatch;
    double start;
    size_t type; /* frames of one type are cut as one */
    int is_kept; /* nothing is to be done: it waits for its turn */
    int is_open; /* more units may come: it is not done before all have */
};

struct window {
    struct window_frame *place; /* a ring, the caller's */
    size_t places, first, n;    /* n of them, from the first one on */
    size_t nodes;
    int is_over;           /* the only one that is left has come out */
    int wants_frame;       /* a node has nothing left of those at work */
    int is_dry;            /* and there is none to be had */
    int is_followed;       /* others are known to come after the newest */
    int speculates;        /* what is late is done twice at once */
    const double *awaited; /* one a node, the caller's: since when it is yet to
                              come; 0: it is here.  NULL: all are */
};

/* What the dispatcher of a place has given out is to be sent; fed: what its
 * feeding returned, below 0 why it could not.  0, or -1, which ends the feeding. */
struct window_sender {
    int (*send)(void *arg, size_t place, int fed);
    void *arg;
};

void window_init(struct window *w,
                 struct window_frame place[],
                 size_t places,
                 size_t nodes);

/* The place of the frame i after the first one; what it has. */
size_t window_place(const struct window *w, size_t i);
struct window_frame *window_nth(const struct window *w, size_t i);
/* Frames that are at work, or wait. */
size_t window_open(const struct window *w);
/* Is all of the first one done? */
int window_is_done(const struct window *w);
/* Pieces that a node has out. */
size_t window_node_out(const struct window *w, size_t node);
/* The frame whose piece a node works at, which is what it was sent first; NULL:
 * it has none. */
struct window_frame *window_working_at(const struct window *w, size_t node);

/* May another one begin: as nothing is at work, or as a node has nothing left? */
int window_wants_frame(const struct window *w);
/* The first gives way to a frame more: all places are taken, or it has come out. */
int window_is_full(const struct window *w);
/* The first one has no place any more, whatever it is. */
void window_forget_first(struct window *w);
/* A frame more, where it is not full; returns its place.  is_followed: others are
 * known to come after it. */
size_t window_add(struct window *w,
                  const struct window_frame *frame,
                  int is_followed);
/* Begin the one that was added last; see dispatch_begin().  -1 if memory ran out or
 * what is to be sent could not be; *is_begun says which. */
int window_begin(struct window *w,
                 struct slice units,
                 const struct slice done[],
                 size_t n,
                 int *is_begun,
                 const struct window_sender *to);
/* There is none to be had for now: nodes that have nothing left help others ... */
int window_no_frame(struct window *w,
                    double now,
                    const struct window_sender *to);
/* ... until there may be one again. */
int window_ask(struct window *w, double now, const struct window_sender *to);
/* The first one has come out.  The last of all stays, to be looked at; else the
 * next one is the first: 1, and window_ask() it. */
int window_close(struct window *w);

/* A node has answered: give it more.  O(frames), or O(frames * nodes) where what is
 * left is looked at. */
int window_feed_node(struct window *w,
                     size_t node,
                     double now,
                     const struct window_sender *to);
/* The same of all nodes. */
int window_feed(struct window *w, double now, const struct window_sender *to);

#endif
