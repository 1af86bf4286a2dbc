/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * agent_probe.h - a node is measured: answers one PROBE.
 *
 * From the site's cache if it will do, else by a process of its own that runs
 * under the very limits that the slices will (`evenstep-agent --probe`), so
 * that nothing but its limits tells a node's results from its work.
 */
#ifndef LAUNCHER_AGENT_AGENT_PROBE_H
#define LAUNCHER_AGENT_AGENT_PROBE_H

#include "launcher/wire/protocol.h"

struct agent_probe;
struct event_base;
struct throttle;

struct agent_probe_setup {
    struct event_base *base;
    struct throttle *throttle; /* of the slices, or NULL */
    int speed_pct;             /* that it holds them to; 0: none */
    char **environ;            /* of the slices */
    const char *sysfs;         /* "/sys" */
};

/* Called once, never from agent_probe_start(); m is valid during the call. */
typedef void (*agent_probe_fn)(void *arg, const struct msg_probed *m);

/*
 * Start on an order; owned by the caller, who destroys it in or after fn.
 * Bounded: a process that hangs is ended and its node not measured.
 * NULL if memory ran out.
 */
struct agent_probe *agent_probe_start(const struct agent_probe_setup *setup,
                                      const struct msg_probe *order,
                                      agent_probe_fn fn,
                                      void *arg);
/* Ends a process that still runs; NULL is allowed. */
void agent_probe_destroy(struct agent_probe *p);

/*
 * The process: `evenstep-agent --probe BUDGET_MS ELEMENTS SCRATCH`, and for each
 * element of the site's NAME UNIT more|less BUDGET_MS COMMAND; argv and argc
 * from BUDGET_MS on.  A SCRATCH of "" is the usual one.  Prints the results (probe_json.h) as one line.
 */
int agent_probe_main(int argc, char **argv, struct es_error *err);

#endif
