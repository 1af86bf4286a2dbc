/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * agent_energy.h - the energy that this node uses: how busy its CPUs were, for a
 * model of it, and the counters of RAPL, as the node's guard reads them or, where
 * the site lets users, the agent itself.
 */
#ifndef LAUNCHER_AGENT_AGENT_ENERGY_H
#define LAUNCHER_AGENT_AGENT_ENERGY_H

#include "launcher/wire/protocol.h"

struct agent_energy;
struct event_base;

typedef void (*agent_energy_fn)(void *arg, const struct msg_energy *m);

/* Call fn from the loop as often as the order says, and whenever the guard of
 * this step, unless it is NULL, has read the counters.  NULL if memory ran out. */
struct agent_energy *agent_energy_start(struct event_base *base,
                                        const struct msg_energy_order *order,
                                        const char *step,
                                        agent_energy_fn fn,
                                        void *arg);
/* NULL is allowed. */
void agent_energy_stop(struct agent_energy *e);

#endif
