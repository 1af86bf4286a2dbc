/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aside.h - work that takes long, beside the event loop: in a thread of its
 * own, which shares nothing with the loop while it is at it.
 */
#ifndef LAUNCHER_BASE_ASIDE_H
#define LAUNCHER_BASE_ASIDE_H

struct aside;
struct event_base;

/* Do work(arg) aside; done(arg) follows, from the loop.  NULL with errno if
 * there is no thread to be had. */
struct aside *aside_start(struct event_base *base,
                          void (*work)(void *arg),
                          void (*done)(void *arg),
                          void *arg);
/* In done() or after it; before it, the end of the work is waited for, and
 * done() not called.  NULL is allowed. */
void aside_destroy(struct aside *a);

#endif
