/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_place.h - when and where a front end writes for `evenstep top`
 * (top_file.h): in a step directory of its own process, for which no agent need
 * run on this host, from its second second on, about once a second; not at all
 * where nothing can be written.
 */
#ifndef LAUNCHER_SESSION_TOP_PLACE_H
#define LAUNCHER_SESSION_TOP_PLACE_H

#include "launcher/session/top_file.h"

struct top_place {
    char dir[32];      /* "": nothing has been written */
    int64_t start_ns;  /* of the work; 0: it has not begun */
    int64_t writes_ns; /* when it writes again */
};

/* The work begins. */
void top_place_start(struct top_place *t);
/* Seconds since then. */
double top_place_elapsed(const struct top_place *t);
/* Is it time to write?  Then, with so many nodes, it is not for some time. */
int top_place_is_due(struct top_place *t, size_t nodes);
void top_place_write(struct top_place *t, const struct top_view *top);
/* The work is over: nothing is left.  A place of zeros is allowed. */
void top_place_stop(struct top_place *t);
/* Remove what processes have left that are no more. */
void top_place_sweep(void);

#endif
