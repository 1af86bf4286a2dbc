/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_end.h - the end of a session: its agents stay for the job's next
 * command (lingering.h), or leave, by force at last.
 */
#ifndef LAUNCHER_SESSION_SESSION_END_H
#define LAUNCHER_SESSION_SESSION_END_H

#include "launcher/session/session_state.h"

/* Runs the loop until it is through.  s is closing from now on. */
void session_end(struct session *s);
/* Meanwhile a node has said something, or is lost. */
void session_end_heard(struct session *s,
                       size_t node,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len);
void session_end_lost(struct session *s);

#endif
