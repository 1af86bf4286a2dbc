/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * agent_meter.h - the node's part in steering: its monitor, and the limit that
 * it is given, which the node's guard sets or, of threads, the program itself.
 */
#ifndef LAUNCHER_AGENT_AGENT_METER_H
#define LAUNCHER_AGENT_AGENT_METER_H

#include "launcher/wire/protocol.h"

struct agent_meter;
struct event_base;

/* Send what w holds: PROGRESS, POWER, LIMITED, ENERGY or RANKS. */
typedef void (*agent_meter_send_fn)(void *arg,
                                    enum protocol_type type,
                                    struct writer *w);

/* Start on an order.  NULL with *err set: the node is one that does not
 * report. */
struct agent_meter *agent_meter_start(struct event_base *base,
                                      const struct msg_monitor *order,
                                      agent_meter_send_fn sender,
                                      void *arg,
                                      struct es_error *err);
/* A limit for the node, or 0: none.  LIMITED follows where there is one to
 * set. */
void agent_meter_limit(struct agent_meter *m, uint64_t limit);
/* The step has so many tasks on this node. */
void agent_meter_expect(struct agent_meter *m, uint32_t tasks);
/* The front end was out of reach: what can be limited is told once more. */
void agent_meter_again(struct agent_meter *m);
/* The step is over: the last RANKS follows. */
void agent_meter_end_ranks(struct agent_meter *m);
/* Is the node's guard asked, for limits?  It tells of energy, too. */
int agent_meter_has_guard(const struct agent_meter *m);
/* A command of this node has ended, as of monitor_succession(). */
void agent_meter_succession(struct agent_meter *m);
/* NULL is allowed. */
void agent_meter_stop(struct agent_meter *m);

#endif
