/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * energy_saved.h - what lower limits have saved.
 *
 * Pure.  Before the first limit is lowered the program runs as it would without:
 * a node's watts then, for as long as it went on, are what it would have used.  It
 * takes as long as it would have, as who comes last keeps its limit.  Each node is
 * reckoned by its own joules and seconds: they are told at different moments, so
 * the first that are told of the running program are where it is counted from.
 */
#ifndef LAUNCHER_SESSION_ENERGY_SAVED_H
#define LAUNCHER_SESSION_ENERGY_SAVED_H

#include "launcher/session/energy.h"

/* The watts before, and those after, are of so many seconds at least. */
#define ENERGY_SAVED_LEAST 1.0

struct energy_saved { /* of a node; all zero: the program has not begun */
    int has_begun, is_counted, is_lower;
    int is_first;             /* nothing was told before it had begun */
    struct energy_view begin; /* of it, or, once is_counted, within it */
    struct energy_view lower; /* the last before a limit was lowered */
};

/* To be called every second or so: has the program begun, has any node's limit
 * been lowered, and what has this one used. */
void energy_saved_look(struct energy_saved *s,
                       int has_begun,
                       int is_lower,
                       struct energy_view used);
/* By what it has used since: *joules, which may be below 0, and 1; 0 if that cannot
 * be told. */
int energy_saved_joules(const struct energy_saved *s,
                        struct energy_view used,
                        double *joules);
/* By all nodes of e, whose s[] these are: 0 if it cannot be told of any.  Of who is
 * not known nothing is counted. */
int energy_saved_sum(const struct energy_saved s[],
                     const struct energy_watch *e,
                     double *joules);

#endif
