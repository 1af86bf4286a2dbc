/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drain.h - hear of nodes that `scontrol update State=DRAIN` wants free: sinfo
 * is asked now and then for those of our allocation, and names them.
 */
#ifndef LAUNCHER_SESSION_DRAIN_H
#define LAUNCHER_SESSION_DRAIN_H

#include <stddef.h>

struct drain;
struct event_base;

/* on() is called from the event loop with a node's name, each time that Slurm
 * is asked: every interval_s (1 to 86400) on the average, at times of chance.
 * NULL: no memory; a sinfo that cannot be run is as if no node drained. */
struct drain *drain_watch(struct event_base *base,
                          int interval_s,
                          void (*on)(void *arg, const char *node),
                          void *arg);
void drain_stop(struct drain *d); /* NULL is allowed */

#endif
