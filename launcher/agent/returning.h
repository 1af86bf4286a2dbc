/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * returning.h - brings the files that a slice has made to the front end: FILE
 * messages, a few at a time, from the event loop.
 *
 * Only regular files in the command's folder are read, and no link is followed:
 * a command cannot make us send what is elsewhere.
 */
#ifndef LAUNCHER_AGENT_RETURNING_H
#define LAUNCHER_AGENT_RETURNING_H

#include "launcher/wire/protocol.h"

struct event_base;
struct returning;

#define RETURNING_WHY_MAX 700 /* bytes of a reason, with its NUL */

struct returning_setup {
    struct event_base *base;
    const char *folder;            /* where the command ran */
    const struct msg_files *files; /* as the rest, used during the call only */
    const struct msg_run *run;
    const char *node;
    void (*send)(void *arg, enum protocol_type type, struct writer *w);
    /* All have been sent, or why not all; from the event loop.  It may call
     * returning_stop(). */
    void (*ended)(void *arg, const char *why);
    void *arg;
};

/* NULL if memory ran out. */
struct returning *returning_start(const struct returning_setup *setup);
/* Send nothing (on != 0) for a while. */
void returning_hold(struct returning *r, int on);
/* NULL is allowed. */
void returning_stop(struct returning *r);

#endif
