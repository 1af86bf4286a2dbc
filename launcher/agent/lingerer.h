/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lingerer.h - an agent that stays when its front end has ended, for the next
 * command of the job (agents { linger }).
 *
 * It listens at a port of its own for a front end that knows the step's secret,
 * and for no longer than it was told to.  All callbacks come from the event
 * loop.
 */
#ifndef LAUNCHER_AGENT_LINGERER_H
#define LAUNCHER_AGENT_LINGERER_H

#include "pmix_bcast/channel.h"

struct lingerer;

struct lingerer_setup {
    struct event_base *base;
    const struct secret *secret; /* must outlive it */
    uint32_t self;               /* our rank */
    struct port_range ports;
    const struct listen_at *at;
    uint32_t seconds;
    const char *dir; /* step directory, to be removed if none comes; or "".  It
                        is used during lingerer_open() only. */
    /* A front end is there, which listens at that port; the channel is the
     * callee's, and lingerer_close() may be called. */
    void (*called)(void *arg, struct channel *c, uint16_t port);
    void (*over)(void *arg); /* the time is; likewise */
    void *arg;
};

/* NULL with errno. */
struct lingerer *lingerer_open(const struct lingerer_setup *setup);
uint16_t lingerer_port(const struct lingerer *l);
/* NULL is allowed. */
void lingerer_close(struct lingerer *l);

#endif
