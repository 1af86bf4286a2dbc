/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_listening.h - programs that stay alive say where they listen, before the
 * first frame, and all get the table of it: evenstep_listen() under `evenstep
 * run --persistent`.
 */
#ifndef LAUNCHER_RUN_RUN_LISTENING_H
#define LAUNCHER_RUN_RUN_LISTENING_H

#include "launcher/session/listening_table.h"

struct run_listening { /* all zero: not started */
    struct listening_table table;
    uint32_t *tasks; /* one a node: 1 if it has a program */
    int first;       /* the table of the nodes */
};

/*
 * Start, before programs do.  Returns for how long those that call wait for the
 * others, in seconds; 0: there can be no table, and why is said.
 */
uint32_t run_listening_start(struct run_listening *l,
                             struct event_base *base,
                             struct session *session,
                             const struct config *config);
/* Forget it, before the session is closed. */
void run_listening_stop(struct run_listening *l);

#endif
