/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * agent_energy.h - the energy that this node uses, as far as its agent can tell
 * without rights: how busy its CPUs were, for a model of it, and the counters
 * of RAPL where the site lets users read them.
 */
#ifndef LAUNCHER_AGENT_AGENT_ENERGY_H
#define LAUNCHER_AGENT_AGENT_ENERGY_H

#include "launcher/wire/protocol.h"

struct agent_energy;
struct event_base;

typedef void (*agent_energy_fn)(void *arg, const struct msg_energy *m);

/* Call fn from the loop as often as the order says.  NULL if memory ran out. */
struct agent_energy *agent_energy_start(struct event_base *base,
                                        const struct msg_energy_order *order,
                                        agent_energy_fn fn,
                                        void *arg);
/* NULL is allowed. */
void agent_energy_stop(struct agent_energy *e);

#endif
