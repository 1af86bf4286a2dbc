/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * meter_window.h - what a node's monitor has told from one time to another, and
 * how fast the node was in between.
 *
 * Pure.  A thread that ticks says itself how much of its region is done; its
 * speed is known after a second of work, if that was a whole region: within one
 * it may vary.  Of a long region a part must do.  Ranks that are metered from
 * outside: after a second of the program's time, from one end of a region to
 * another; of a long region a part does, too.
 */
#ifndef LAUNCHER_SESSION_METER_WINDOW_H
#define LAUNCHER_SESSION_METER_WINDOW_H

#include "launcher/wire/protocol.h"

struct meter_window { /* all zero: empty */
    struct msg_progress first, last;
    int has_first;
};

/* Begin anew with the next record. */
void meter_window_clear(struct meter_window *w);
/* Add a record.  1 if the window begins with it, as it does not go on from the
 * one before. */
int meter_window_add(struct meter_window *w, const struct msg_progress *m);
/* Is the speed known? */
int meter_window_is_enough(const struct meter_window *w);
/* The rest of a window that is enough.  Regions a nanosecond of work. */
double meter_window_speed(const struct meter_window *w);
/* Time of the program a nanosecond of work; 0: not metered from outside. */
double meter_window_pace(const struct meter_window *w);

#endif
