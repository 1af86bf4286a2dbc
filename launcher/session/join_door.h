/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * join_door.h - where `evenstep join` asks a run to take its nodes in.
 *
 * The door has a port and a key of its own, in a file of the user's alone
 * (join_file.h).  Who knows the key says which nodes would join (JOIN) and is
 * told their seats and the session's secret (SEATS), or why not (REFUSED).
 * Then it starts their agents, which call the session, and stays: at the end of
 * the run it is told to LEAVE; when it says so itself its nodes do.  What is
 * said is encrypted, whatever the session does, as the secret is in it.
 */
#ifndef LAUNCHER_SESSION_JOIN_DOOR_H
#define LAUNCHER_SESSION_JOIN_DOOR_H

#include "launcher/session/join_file.h"
#include "launcher/session/session.h"

struct join_door;

struct join_door_setup {
    struct event_base *base;
    struct session *session; /* ready; it has seats, and outlives the door */
    int energy;              /* is to be read on the nodes */
    /* The node of that seat is to leave, as who brought it says.  Not after
     * join_door_end(). */
    void (*leaves)(void *arg, size_t seat);
    void *arg;
};

/* Listen, and write the file.  0, or -1 with err. */
int join_door_open(struct join_door **d,
                   const struct join_door_setup *setup,
                   struct es_error *err);
/* What `evenstep join` calls the run. */
const char *join_door_run(const struct join_door *d);
/* The run is over: nobody comes any more, and all are told to leave. */
void join_door_end(struct join_door *d); /* NULL is allowed */
/* Nothing is left of it; NULL is allowed. */
void join_door_destroy(struct join_door *d);

#endif
