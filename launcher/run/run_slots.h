/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_slots.h - the slots of a run's nodes (--slots): each node is asked how
 * many it has, before the first frame and when it is back.
 */
#ifndef LAUNCHER_RUN_RUN_SLOTS_H
#define LAUNCHER_RUN_RUN_SLOTS_H

#include "launcher/run/run_state.h"

/* Ask all nodes; r->slots is there when r->asked.missing is 0, maybe now.  0,
 * or -1 and r->err filled. */
int run_slots_ask(struct run *r);
/* A node is back: ask it again. */
void run_slots_again(struct run *r, size_t node);
/* SLOTTED of a node.  0, or -1: the run is over, r->err is filled. */
int run_slots_message(struct run *r,
                      size_t node,
                      const uint8_t *body,
                      size_t len);
/* A node is lost: nothing is expected of it.  0 or -1, likewise. */
int run_slots_lost(struct run *r, size_t node);

/* They are known: make what holds something of each.  0, or -1 and r->err
 * filled. */
int run_slots_open(struct run *r);
void run_slots_clear(struct run *r);
/* The run is over: what of its nodes its commands cannot have used. */
void run_slots_tell(const struct run *r);

/* The adjuster begins, or takes a node in that is back, by what the nodes have
 * measured.  0, or -1 and r->err filled. */
int run_slots_rank(struct run *r);
int run_slots_join(struct run *r, size_t node);
/* It learns what a node's CPUs are for each of its slots. */
void run_slots_threads(struct run *r, size_t node);

#endif
