/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recall.h - calls agents that wait (lingering.h) to a new front end.
 */
#ifndef LAUNCHER_SESSION_RECALL_H
#define LAUNCHER_SESSION_RECALL_H

#include "launcher/session/lingering.h"
#include "launcher/wire/protocol.h"
#include "pmix_bcast/channel.h"

struct recall;

struct recall_events {
    /* One is READY; the channel is the callee's. */
    void (*ready)(void *arg, struct channel *c, const struct msg_ready *m);
    /* One is not to be had; recall_end() may be called. */
    void (*failed)(void *arg);
};

/* Call all of them; port is where we listen.  NULL if memory ran out.  The
 * secret and on must outlive it. */
struct recall *recall_start(struct event_base *base,
                            const struct lingering *l,
                            const struct secret *secret,
                            uint16_t port,
                            const struct recall_events *on,
                            void *arg);
/* Those that are not READY leave; NULL is allowed. */
void recall_end(struct recall *r);

#endif
