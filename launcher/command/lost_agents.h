/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lost_agents.h - says of a step that runs which nodes have no agent any more:
 * their tasks go on, but nobody reads their meters; and has that marked in what
 * is known of the time of its ranks.
 *
 * One line names all that were lost within a moment.  A step that ends loses its
 * agents, too; so nothing is said before it has gone on for that long.
 */
#ifndef LAUNCHER_COMMAND_LOST_AGENTS_H
#define LAUNCHER_COMMAND_LOST_AGENTS_H

#include "launcher/session/session.h"
#include "launcher/session/step_times.h"

struct event;
struct event_base;

struct lost_agents { /* all zero: nothing is said */
    struct session *session;
    struct step_times *times; /* the caller's, or NULL */
    struct event *on_time;
    size_t n, first;       /* lost and not told yet; one of these */
    char why[200];         /* it was */
    unsigned char *is_new; /* of each node: it is one of them */
};

/* Tell of nodes of a session from now on.  times, which may be NULL, is there
 * until lost_agents_stop().  0, or -1 if memory ran out. */
int lost_agents_start(struct lost_agents *l,
                      struct event_base *base,
                      struct session *session,
                      struct step_times *times);
/* A node has lost its agent; why in words. */
void lost_agents_lost(struct lost_agents *l, size_t node, const char *why);
/* It is here again. */
void lost_agents_returned(struct lost_agents *l, size_t node);
/* The step is over: nothing more is told. */
void lost_agents_stop(struct lost_agents *l);

#endif
