/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * agent_socket.h - the program's way to the agent of its node, which listens at
 * $EVENSTEP_SOCKET (slice_message.h).
 */
#ifndef LAUNCHER_LIBEVENSTEP_AGENT_SOCKET_H
#define LAUNCHER_LIBEVENSTEP_AGENT_SOCKET_H

#include <stdint.h>

/* A descriptor for the caller to close, or -1 with errno. */
int agent_socket_connect(const char *path);
/* Our number among the tasks of this node; 0 outside of Slurm. */
uint32_t agent_socket_rank(void);

#endif
