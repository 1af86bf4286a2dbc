/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * front_link.h - an agent's connection to its front end.
 *
 * The agent calls.  One that is turned away at the start comes again, as there may
 * be more callers than the front end takes in at once; and one that has lost its
 * front end calls it again for a while, unless nobody listens there any more.
 *
 * All callbacks come from the event loop.
 */
#ifndef LAUNCHER_AGENT_FRONT_LINK_H
#define LAUNCHER_AGENT_FRONT_LINK_H

#include "launcher/agent/agent_setup.h"
#include "launcher/wire/protocol.h"

struct front_link;

struct front_link_events {
    /* The front end has proved itself, and may be sent to. */
    void (*opened)(void *arg);
    void (*message)(void *arg, uint16_t type, const uint8_t *body, size_t len);
    /* So much of what commands write waits for the wire that no more is to be
     * read (on != 0), or it has gone. */
    void (*full)(void *arg, int on);
    /* The connection is lost: is the front end to be called again? */
    int (*lost)(void *arg);
    /* Before that: may it be called, or is it too early? */
    int (*may_call)(void *arg);
    /* The connection is gone, and it is not called again. */
    void (*over)(void *arg);
};

/* setup, on and arg must outlive the link.  NULL if memory ran out. */
struct front_link *front_link_create(struct event_base *base,
                                     const struct agent_setup *setup,
                                     const struct front_link_events *on,
                                     void *arg);
/* NULL is allowed. */
void front_link_destroy(struct front_link *l);

/* Call the front end that the setup names, as the agent of that rank.  On failure
 * nothing follows. */
int front_link_call(struct front_link *l, uint32_t rank, struct es_error *err);
/* The front end has ended; the next one, which listens at that port, has called
 * us: c is ours from now on, and opened() does not follow. */
void front_link_take(struct front_link *l, struct channel *c, uint16_t port);
/* From now on a loss is the end: over() follows it, whatever it was. */
void front_link_dismiss(struct front_link *l);

/* Send what w holds, if there is a connection, and clear it. */
void front_link_send(struct front_link *l,
                     enum protocol_type type,
                     struct writer *w);
/* Is there a connection, perhaps one that is still being made? */
int front_link_is_up(const struct front_link *l);
/* Is the front end there now? */
int front_link_is_open(const struct front_link *l);
/* Has it ever been? */
int front_link_was_open(const struct front_link *l);
/* "n0: no front end at ADDRESS:PORT: why": the connection was lost for that. */
int front_link_fail(const struct front_link *l,
                    const char *mend,
                    struct es_error *err);

#endif
