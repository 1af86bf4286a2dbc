/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * agent_ring.h - core element I, on the node: one round of the ring
 * (probe_ring.h), in which this agent sends to one and receives from one.
 *
 * It is what a flow of one process carries by TCP: on links of some ten
 * Gbit/s that is less than the link's speed, and still tells a slow cable.
 */
#ifndef LAUNCHER_AGENT_AGENT_RING_H
#define LAUNCHER_AGENT_AGENT_RING_H

#include "pmix_bcast/channel.h"
#include "pmix_bcast/wireup.h"

struct agent_ring;

/* What came in, bytes a second; 0: nothing, or too little to tell. */
typedef void (*agent_ring_fn)(void *arg, double received_per_s);

/* Listen for senders; self is our rank.  NULL if that cannot be had. */
struct agent_ring *agent_ring_open(struct event_base *base,
                                   const struct secret *secret,
                                   uint32_t self,
                                   struct port_range ports,
                                   const struct listen_at *at);
void agent_ring_close(struct agent_ring *r);
uint16_t agent_ring_port(const struct agent_ring *r);

/*
 * Send to the ring of another agent, whose rank is receiver, for ms
 * milliseconds (to NULL: only receive), then hear fn.  One that cannot be
 * reached is not told: its receiver will have nothing.  0, or -1 if a round is
 * under way or memory ran out.
 */
int agent_ring_round(struct agent_ring *r,
                     const struct endpoint *to,
                     uint32_t receiver,
                     uint32_t ms,
                     agent_ring_fn fn,
                     void *arg);

#endif
