/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_start.h - start the agents of a command, as run, graph run and bcast
 * do it: those of --local, or of a step in this allocation.
 */
#ifndef LAUNCHER_SESSION_SESSION_START_H
#define LAUNCHER_SESSION_SESSION_START_H

#include "launcher/config/config.h"
#include "launcher/session/session.h"

/*
 * setup says what the command line says (local, place); where the agent's
 * program is, its ports and how it is wired up are set here, from the
 * configuration.  All else as with session_open(); ES_ENV without an
 * allocation.
 */
int session_start(struct session **s,
                  struct event_base *base,
                  const struct config *config,
                  struct session_setup *setup,
                  const struct session_events *on,
                  void *arg,
                  struct es_error *err);

/* What the configuration says of every session's connections. */
void session_configure(struct session_setup *setup,
                       const struct config *config);

#endif
