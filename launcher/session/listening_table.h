/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listening_table.h - the connection table of a step made again, with the ports
 * at which its tasks really listen: what the front end does of
 * evenstep_listen().  The programs of `evenstep run --persistent` are tasks, too,
 * one on a node.
 *
 * When every node has told its tasks' ports (PORTS of protocol.h) the table is
 * brought to all in place of the first one, then all tasks are told that it is
 * there.  That is a round; there may be more.  A task that does not call, a node
 * that is lost or cannot take the table is the end of its round and of all
 * later ones: every task that waits is told, and the user by one line.
 */
#ifndef LAUNCHER_SESSION_LISTENING_TABLE_H
#define LAUNCHER_SESSION_LISTENING_TABLE_H

#include "launcher/base/step_dir.h"
#include "launcher/session/broadcast.h"
#include "pmix_bcast/conntable.h"

struct listening_table { /* all zero: not started */
    struct event_base *base;
    struct session *session;
    struct bcast_wish wish;
    int patience_s;
    int first;             /* the table of the nodes' ports; the caller's */
    const uint32_t *tasks; /* of the step on each node; the caller's */
    struct conntable_listening *at; /* one a node; tasks 0: it has not told */
    size_t nodes;                   /* that have tasks */
    size_t missing;                 /* of these, that have not */
    size_t lost;                    /* nodes that are */
    uint32_t round;
    uint32_t error; /* why there is no other round; 0: there may be */
    int fd;         /* of the new table, -1: none */
    char source[64], destination[STEP_PATH_MAX];
    struct broadcast broadcast;
    int in_broadcast;
    struct event *ended;
};

/*
 * Start, once the first table is on every node.
 *
 *   first      a descriptor of it
 *   tasks      how many each node has; 0: it has no part in this
 *   step       the name of the step directory; {node} stands for the node's name
 *   patience   of the nodes, in seconds, for messages
 *
 * first and tasks must outlive t.  Returns 0, or -1 if memory ran out; t may be
 * stopped in each case.
 */
int listening_table_start(struct listening_table *t,
                          struct event_base *base,
                          struct session *session,
                          const struct config_bcast *config,
                          int first,
                          const uint32_t *tasks,
                          const char *step,
                          int patience_s);
/* A node's message: 1 if it was for us. */
int listening_table_message(struct listening_table *t,
                            size_t node,
                            uint16_t type,
                            const uint8_t *body,
                            size_t len);
void listening_table_lost(struct listening_table *t,
                          size_t node,
                          const char *why);
/* One that was lost is back. */
void listening_table_returned(struct listening_table *t);
/* There are no more rounds; one whose table is on its way is the last. */
void listening_table_end(struct listening_table *t);
/* Forget it, before the session is closed. */
void listening_table_stop(struct listening_table *t);

#endif
