/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * members.h - the nodes of a session by rank, each with the connection to its
 * agent from READY on.
 */
#ifndef LAUNCHER_SESSION_MEMBERS_H
#define LAUNCHER_SESSION_MEMBERS_H

#include "launcher/session/node.h"
#include "launcher/wire/protocol.h"
#include "pmix_bcast/channel.h"

struct members;

struct members_events {
    void (*message)(
        void *arg, size_t node, uint16_t type, const uint8_t *body, size_t len);
    /* A node that was present has gone, why in words. */
    void (*lost)(void *arg, size_t node, const char *why);
};

/* start nodes, of which nothing is known yet, and seats behind them for those
 * that join later; number: of the last order that they have had of a front end
 * before, or 0.  on and arg must outlive them.  NULL: no memory. */
struct members *members_create(struct event_base *base,
                               size_t start,
                               size_t seats,
                               uint32_t number,
                               const struct members_events *on,
                               void *arg);
const struct node *members_node(const struct members *m, size_t node);
/* An agent is READY, whose connection is ours from now on: 0, or -1 if there
 * are not as many as it says, or its rank was READY before (then c is ended). */
int members_join(struct members *m,
                 struct channel *c,
                 const struct msg_ready *ready);
/* Those that are not READY are not here yet, and have no name but their number. */
void members_await(struct members *m);
/* Is that one of them, or of a session before all are here? */
int members_is_awaited(const struct members *m, size_t node);
/* It is READY: as members_join(). */
int members_come(struct members *m,
                 struct channel *c,
                 const struct msg_ready *ready);
/*
 * An agent that was lost, or is about to be, is READY again, and c ours.  1: it
 * is present; 0: it is not the same one, and c is ended, or may_return is 0 and
 * it was told to leave.
 */
int members_rejoin(struct members *m,
                   struct channel *c,
                   const struct msg_ready *ready,
                   int may_return);
/* Send what w holds, if there is a connection, and clear it; if that fails the
 * node is lost, from the loop. */
void members_send(struct members *m,
                  size_t node,
                  uint16_t type,
                  struct writer *w);
/* Send to all, or to those of to (NULL: all), down their tree: session.h. */
void members_send_all(struct members *m, uint16_t type, struct writer *w);
void members_send_each(struct members *m,
                       uint16_t type,
                       struct writer w[],
                       const char to[]);
/* A seat is for the agent of the node of that name ("": for nobody), which then
 * rejoins; it is not there.  Or one that has not come has that name. */
void members_seat(struct members *m, size_t node, const char *name);
/* Cut a node off; lost() follows. */
void members_drop(struct members *m, size_t node);
/* Of the last order. */
uint32_t members_number(const struct members *m);
/* Where their agents reach us; until all have been here that is not known. */
void members_listen_at(const struct members *m, struct listen_at *at);
/* Tell all to leave, down their tree if all have been here; message() is not
 * called any more. */
void members_leave(struct members *m, int all_here);
/* Tell those that have joined later. */
void members_leave_seats(const struct members *m);
/* End all connections without a word; NULL is allowed. */
void members_destroy(struct members *m);

#endif
