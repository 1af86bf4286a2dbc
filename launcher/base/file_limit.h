/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_limit.h - the limit of open files.  Each connection is one, so our own
 * processes take as many as the system allows; commands that they start get the
 * limit that was set before.
 */
#ifndef LAUNCHER_BASE_FILE_LIMIT_H
#define LAUNCHER_BASE_FILE_LIMIT_H

/* Raise the soft limit to the hard one.  A second call does nothing. */
void file_limit_raise(void);
/* Set the limit back, in a child between fork and exec.  Async-signal-safe. */
void file_limit_restore(void);
/* A callback full() of listener.h: say what is wrong and how to mend it. */
void file_limit_reached(void *arg, const char *why);

#endif
