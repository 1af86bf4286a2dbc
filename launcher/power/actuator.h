/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * actuator.h - what sets how fast a node may go; each kind has a file of its
 * own.
 *
 * What is found in the files of a kind is put back at the end.  A limit is of
 * the whole node, in the kind's unit; it is divided over the files.  The guard (power_guard.c)
 * is the only one that uses this, as it may be root: nothing but these files
 * is ever written, and nothing but numbers within their bounds.
 */
#ifndef LAUNCHER_POWER_ACTUATOR_H
#define LAUNCHER_POWER_ACTUATOR_H

#include "launcher/power/actuator_kind.h"

/* NULL if there is none of that name. */
const struct actuator_kind *actuator_find(const char *name);

/*
 * Find the knobs and what is in them.  Nothing is set yet: limit is start, and
 * floor is lowest, both as parts of the ceiling (0..1).  On failure *a is
 * empty.  actuator_close() it.
 */
int actuator_open(struct actuator *a,
                  const struct actuator_kind *kind,
                  const struct actuator_place *place,
                  double start,
                  double lowest,
                  struct es_error *err);
/* Can all knobs be written?  Nothing is. */
int actuator_check(const struct actuator *a, struct es_error *err);
/* Set the node's limit, floor to ceiling.  If a knob cannot be set, those that
 * were are set back. */
int actuator_set(struct actuator *a, uint64_t limit, struct es_error *err);
/* Put back what was found, if anything was set. */
void actuator_restore(struct actuator *a);
/* The same, and remove what was made for the tasks. */
void actuator_close(struct actuator *a);

#endif
