/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arrival.h - the agents of a start come in: each says HERE; when all have,
 * they are told to wire up (FENCE); then each says READY, and its connection
 * is handed over.  An agent that was lost and calls again says READY at once.
 *
 * Or each may begin at once, and say READY: then they have the others' endpoints
 * when all are here.
 *
 * Connections that have not said READY are held here.  An agent that does not
 * speak our version of the protocol is refused: no start can succeed with it.
 */
#ifndef LAUNCHER_SESSION_ARRIVAL_H
#define LAUNCHER_SESSION_ARRIVAL_H

#include "launcher/wire/protocol.h"
#include "pmix_bcast/channel.h"

struct arrival;

struct arrival_events {
    /* One more agent is here. */
    void (*here)(void *arg);
    /* An agent is READY; c is the callee's from now on.  expected: it has said
     * HERE before. */
    void (*ready)(void *arg,
                  struct channel *c,
                  const struct msg_ready *m,
                  int expected);
    /* All are: the body of a FENCE for those that are READY already.  Only where
     * they begin early. */
    void (*complete)(void *arg, const uint8_t *body, size_t len);
    /* One that was here has gone before it was READY. */
    void (*lost)(void *arg, size_t rank, const char *node, const char *why);
    /* This start cannot succeed. */
    void (*failed)(void *arg, const char *mend, const char *what);
};

/* on and arg must outlive it.  NULL: no memory. */
struct arrival *arrival_create(struct event_base *base,
                               const struct arrival_events *on,
                               void *arg);
/* A listener's called(). */
void arrival_accept(void *arrival, struct listener *l, int fd);
/* A start begins: nobody is here.  by_tcp: the agents have no PMIx.  early: each
 * may begin before all are here, which is only without it, and for at most
 * TABLE_BRANCHES agents.  interfaces: those meant for data, "" for none; it must
 * outlive the start. */
void arrival_begin(struct arrival *a,
                   int by_tcp,
                   int early,
                   const char *interfaces);
/* All are READY, or the session ends: no HERE is accepted any more. */
void arrival_end(struct arrival *a);
/* MISSED has come: an agent has not got the FENCE from its parent. */
void arrival_missed(struct arrival *a, const uint8_t *body, size_t len);
/* The endpoint of the agent of that rank, which names its node, once it has said
 * HERE; else NULL. */
const struct endpoint *arrival_agent(const struct arrival *a, uint32_t rank);
/* How many are here; and of how many, 0 if none has come yet. */
uint32_t arrival_came(const struct arrival *a);
uint32_t arrival_size(const struct arrival *a);
/* NULL is allowed. */
void arrival_destroy(struct arrival *a);

#endif
