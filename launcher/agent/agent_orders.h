/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * agent_orders.h - what an agent does by order of its front end, once it is
 * wired up: a table of the messages (protocol.h), each with who receives it.
 */
#ifndef LAUNCHER_AGENT_AGENT_ORDERS_H
#define LAUNCHER_AGENT_AGENT_ORDERS_H

#include "launcher/agent/agent_setup.h"
#include "launcher/wire/protocol.h"
#include "pmix_bcast/mesh.h"

struct agent_orders;
struct throttle;

struct agent_orders_setup {
    struct event_base *base;
    const struct agent_setup *agent;
    const struct wireup *wireup;
    struct mesh *mesh;
    struct throttle *throttle;  /* NULL: full speed */
    const struct listen_at *at; /* where others reach us */
    const uint8_t *ip;          /* 16 bytes: of the node's adapter */
    /* Send what w holds to the front end, and clear it. */
    void (*send)(void *arg, enum protocol_type type, struct writer *w);
    void (*idle)(void *arg); /* after agent_orders_stop(): all has ended */
    void *arg;
};

/* What the setup points to must outlive the orders. */
int agent_orders_open(struct agent_orders **o,
                      const struct agent_orders_setup *setup,
                      struct es_error *err);
/* An order has come; -1 if it is none, or breaks the protocol. */
int agent_orders_receive(struct agent_orders *o,
                         uint16_t type,
                         const uint8_t *body,
                         size_t len);
/* Do not read (on != 0) what the commands write. */
void agent_orders_hold(struct agent_orders *o, int on);
/* Are the tasks of a step fed here, for which the loss of the front end is the
 * end? */
int agent_orders_feed_step(const struct agent_orders *o);
/* Let what runs see its SIGTERM; the front end is lost, or (leaving) we leave
 * and nothing is begun any more.  Is there anything to wait for?  NULL is
 * allowed. */
int agent_orders_stop(struct agent_orders *o, int leaving);
/* Slurm ends this step, perhaps with the one beside it: tell what is asked for
 * at the end of that, while there is time. */
void agent_orders_part(struct agent_orders *o);
/* Is what was stopped not over yet? */
int agent_orders_busy(const struct agent_orders *o);
/* All that was stopped is over: before the front end is called again. */
void agent_orders_forget(struct agent_orders *o);
/* End all at once, and remove the step directory; NULL is allowed. */
void agent_orders_close(struct agent_orders *o);

#endif
