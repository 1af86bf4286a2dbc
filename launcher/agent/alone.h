/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alone.h - tasks of a node's slots side by side, and now and then one that has the
 * node for itself: locks on a file in memory that the agent makes and whoever runs
 * tasks opens (F_OFD_SETLK, fcntl(2)).
 */
#ifndef LAUNCHER_AGENT_ALONE_H
#define LAUNCHER_AGENT_ALONE_H

/* A new file; -1 with errno. */
int alone_make(void);
/* What another process opens it by: "/proc/123/fd/7". */
void alone_path(char path[64], int fd);

/* Enter, beside others or alone.  1: we are in; 0: not yet, ask again.  Who is to be
 * alone lets nobody in from the first time it asks.  Never blocks; -1 with errno. */
int alone_enter(int fd, int alone);
void alone_leave(int fd);

#endif
