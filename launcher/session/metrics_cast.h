/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metrics_cast.h - what was measured, brought to all nodes as metrics.json of
 * their step directories, by a broadcast: a front end that sends all rows to
 * every node itself has n times n of them to send (42 GB of 16,384 nodes).
 * Agents of --local share one file in memory: they need no copy.
 */
#ifndef LAUNCHER_SESSION_METRICS_CAST_H
#define LAUNCHER_SESSION_METRICS_CAST_H

#include "launcher/base/step_dir.h"
#include "launcher/session/broadcast.h"
#include "launcher/session/qualification.h"

struct metrics_cast { /* all zero: not started */
    struct broadcast broadcast;
    int fd;          /* of the file in memory; 0: none */
    char source[64]; /* its name */
    char destination[STEP_PATH_MAX];
};

/*
 * Start.  The step directory must be there on every node, or on its way.
 *
 *   step   its name, or NULL: the session's own; see session_step_name()
 *   ended  once, from the loop; metrics_cast_check() then says which nodes
 *          have not got it
 *
 * What nodes say of it, and who is lost, is for m->broadcast.
 * Returns 0; 1 if all have it already, and ended() does not follow; or -1 and
 * err filled.  m may be stopped in each case.
 */
int metrics_cast_start(struct metrics_cast *m,
                       struct event_base *base,
                       const struct qualification *q,
                       const struct config_bcast *config,
                       const char *step,
                       void (*ended)(void *arg),
                       void *arg,
                       struct es_error *err);
/* As broadcast_check(). */
int metrics_cast_check(const struct metrics_cast *m, struct es_error *err);
/* Forget it, before the session is closed. */
void metrics_cast_stop(struct metrics_cast *m);

#endif
