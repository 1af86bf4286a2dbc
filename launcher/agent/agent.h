/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * agent.h - the node side: an agent, from its start to its end.
 *
 * The agent calls the front end, says HERE, and when all have done so they wire up, over
 * PMIx or by the table that the front end has made of them; then it says READY, and does
 * what it is told: probe, run slices one after another, keep the step
 * directory.  It leaves, with every command it started stopped and its step
 * directory gone, when it is told to, when its front end is gone (at once if
 * the connection ends, after 10 s of silence), or on SIGTERM, SIGINT or SIGHUP.
 */
#ifndef LAUNCHER_AGENT_AGENT_H
#define LAUNCHER_AGENT_AGENT_H

#include "launcher/agent/agent_setup.h"
#include "pmix_bcast/error.h"

/* Serve until told to leave.  Returns 0, or -1 if the agent could not start
 * or lost its front end before it was ready. */
int agent_serve(const struct agent_setup *setup, struct es_error *err);

#endif
