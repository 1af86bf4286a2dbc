/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * programs.h - the programs of `evenstep run --persistent`, as the front end
 * sees them: the first frame begins when all ask for their slice, and the run
 * ends when all have ended.  Whom this waits for is told after a while.
 */
#ifndef LAUNCHER_RUN_PROGRAMS_H
#define LAUNCHER_RUN_PROGRAMS_H

#include "launcher/session/session.h"

struct event;

struct standstill;

struct programs {
    struct session *session;
    char *asked;   /* one a node: for its first slice */
    char *awaited; /* likewise */
    size_t missing;
    const char *to_do; /* what the missing are awaited to do */
    struct event *patience;
    int64_t since_ns;
};

/* 0, or -1 if memory ran out. */
int programs_init(struct programs *p,
                  struct session *session,
                  struct event_base *base);
/* {0} is allowed. */
void programs_clear(struct programs *p);
/* This node's has asked for its first slice: 1 if it was the last of those that
 * were awaited.  It may come before it is. */
int programs_asked(struct programs *p, size_t node);
/* Tell all nodes that programs may start now, numbered as connections_of_nodes()
 * has them, and await that the one of every node that is present asks for a
 * slice; nothing is missing if all have already.  listen_s: how long those that
 * say where they listen wait for others, 0: nobody listens.  -1 if memory ran
 * out. */
int programs_await_start(struct programs *p, uint32_t listen_s);
/* Tell them that there are no more, and await their end. */
void programs_await_end(struct programs *p);
/* Give up the nodes that have been awaited for longer, and were not stopped;
 * overdue[] has a 1 for each then. */
void programs_drop_late(struct programs *p,
                        int64_t timeout_ns,
                        struct standstill *standstill,
                        char overdue[]);
/* A node was stopped for so long. */
void programs_move(struct programs *p, int64_t ns);
/* This node's has, or is lost: 1 if it was the last that was missing. */
int programs_heard(struct programs *p, size_t node);

#endif
