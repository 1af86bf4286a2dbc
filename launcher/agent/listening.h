/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listening.h - whether somebody on this node listens at a TCP port, by what the
 * kernel tells in /proc/net/tcp and /proc/net/tcp6 (proc(5)).
 */
#ifndef LAUNCHER_AGENT_LISTENING_H
#define LAUNCHER_AGENT_LISTENING_H

#include <stdint.h>

enum listening {
    LISTENING_NO,
    LISTENING_YES,
    LISTENING_UNKNOWN, /* /proc cannot be read */
};

/* Is a line of one of the two files a socket that listens at the port, and can
 * be reached by the address ip, IPv6, or IPv4 as ::ffff:a.b.c.d? */
int listening_line(const char *line, const uint8_t ip[16], uint16_t port);

enum listening listening_at(const uint8_t ip[16], uint16_t port);

#endif
