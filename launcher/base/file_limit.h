/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_limit.h - how many files a process of ours may have open: as many as
 * the system allows, as each connection is one; what it starts gets the limit
 * that we were given.
 */
#ifndef LAUNCHER_BASE_FILE_LIMIT_H
#define LAUNCHER_BASE_FILE_LIMIT_H

/* Raise our limit to the hard one; once. */
void file_limit_raise(void);
/* In a child, between fork and exec: the limit as it was before.  Async-signal-
 * safe. */
void file_limit_restore(void);
/* A listener's full(): say what is wrong and how to mend it. */
void file_limit_reached(void *arg, const char *why);

#endif
