/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_start.h - a session from the start of its agents, or the recall of
 * those that have stayed, to the last READY; and what comes from them later.
 */
#ifndef LAUNCHER_SESSION_SESSION_START_H
#define LAUNCHER_SESSION_SESSION_START_H

#include "launcher/session/session_state.h"

/* Of a new session, with base, on and arg.  -1: it may be closed. */
int session_start(struct session *s,
                  const struct session_setup *setup,
                  struct es_error *err);
/* End all connections to its agents. */
void session_start_forget(struct session *s);

#endif
