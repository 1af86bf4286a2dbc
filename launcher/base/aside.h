/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aside.h - long work beside the event loop, in a thread of its own.  Until it
 * is done, the loop must not touch what the work uses.
 */
#ifndef LAUNCHER_BASE_ASIDE_H
#define LAUNCHER_BASE_ASIDE_H

struct aside;
struct event_base;

/* Run work(arg) in a thread, then call done(arg) from the event loop.  Returns
 * NULL with errno if no thread can be started. */
struct aside *aside_start(struct event_base *base,
                          void (*work)(void *arg),
                          void (*done)(void *arg),
                          void *arg);
/* Wait for the work and release everything; may be called from done().  If
 * done() was not called yet, it never will be.  NULL is allowed. */
void aside_destroy(struct aside *a);

#endif
