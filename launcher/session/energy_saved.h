/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * energy_saved.h - what lower limits have saved.
 *
 * Pure.  Before the first limit is lowered the program runs as it would without:
 * its watts then, for as long as it went on, are what it would have used.  It
 * takes as long as it would have, as who comes last keeps its limit.
 */
#ifndef LAUNCHER_SESSION_ENERGY_SAVED_H
#define LAUNCHER_SESSION_ENERGY_SAVED_H

#include "launcher/session/energy.h"

/* The watts before, and those after, are of so many seconds at least. */
#define ENERGY_SAVED_LEAST 1.0

struct energy_saved { /* all zero: the program has not begun */
    int has_begun, is_lower;
    struct energy_view begin, lower; /* of all nodes, when it did */
};

/* To be called every second or so: has the program begun, has any limit been
 * lowered, and what have all nodes used. */
void energy_saved_look(struct energy_saved *s,
                       int has_begun,
                       int is_lower,
                       struct energy_view used);
/* By what they have used since: *joules, which may be below 0, and 1; 0 if that
 * cannot be told. */
int energy_saved_joules(const struct energy_saved *s,
                        struct energy_view used,
                        double *joules);

#endif
