/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slice_meter.h - in the agent of `evenstep run --meter`: how far the command
 * is with its slice, told while it changes.
 *
 * All functions but the first take NULL, and then do nothing.
 */
#ifndef LAUNCHER_AGENT_SLICE_METER_H
#define LAUNCHER_AGENT_SLICE_METER_H

#include "launcher/wire/protocol.h"

#include <sys/types.h>

struct slice_meter;
struct event_base;

typedef void (*slice_meter_fn)(void *arg, const struct msg_metered *m);

/* fn is called from the loop.  NULL if memory ran out, or the order is none. */
struct slice_meter *slice_meter_open(struct event_base *base,
                                     const struct msg_meter *order,
                                     slice_meter_fn fn,
                                     void *arg);
void slice_meter_close(struct slice_meter *a);

/* The processes of group begin with a slice. */
void slice_meter_begin(struct slice_meter *a,
                       const struct msg_run *slice,
                       pid_t group);
/* They have printed this. */
void slice_meter_read(struct slice_meter *a,
                      enum outside_stream stream,
                      const void *text,
                      size_t len);
/* The slice has ended, well or not, and its command with it, which has used so
 * many seconds of CPU time; below 0: the command lives on. */
void slice_meter_end(struct slice_meter *a, int well, double cpu_s);

#endif
