/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * actuator.h - limits how fast a node may run; each kind of actuator has a file
 * of its own.
 *
 * A limit is for the whole node, in the kind's unit; it is divided over the
 * kind's files, in fixed parts or as it is told: over the step's ranks that run
 * on cores of their own, or over the packages.  Their values from before are
 * restored at the end.  Only the guard (power_guard.c) uses this, which may be
 * root: it writes to no other files, and nothing but numbers within their
 * bounds.
 */
#ifndef LAUNCHER_POWER_ACTUATOR_H
#define LAUNCHER_POWER_ACTUATOR_H

#include "launcher/power/actuator_kind.h"

/* Find a kind by its name; NULL if there is none. */
const struct actuator_kind *actuator_find(const char *name);

/*
 * Find the knobs and read their values; nothing is set yet.  cap is
 * the limit at the start as in power { cap } of the configuration, 0: the
 * ceiling; lowest is the floor, as a part of the ceiling (0..1).  On failure *a
 * is empty.  To be ended by actuator_close().
 */
int actuator_open(struct actuator *a,
                  const struct actuator_kind *kind,
                  const struct actuator_place *place,
                  double cap,
                  double lowest,
                  struct es_error *err);
/* Check that all knobs can be written, without writing. */
int actuator_check(const struct actuator *a, struct es_error *err);
/* Set the node's limit, floor to ceiling, which is none: what was found.  If a knob cannot be set, those set
 * before are set back. */
int actuator_set(struct actuator *a, uint64_t limit, struct es_error *err);
/*
 * Find the parts over which the limit can be divided: threads of the step's
 * tasks where these are pinned to cores of their own, or else the tasks.  What
 * may be divided now is so no longer.  Returns 1 if there are parts, 0 if there
 * is nothing to divide, -1 with *err. */
int actuator_divide(struct actuator *a,
                    const struct actuator_place *place,
                    const struct actuator_runs *runs,
                    struct es_error *err);
/* As actuator_set(), with a limit for each of the a->parts.n parts.  At no
 * instant do they have more than the limit together. */
int actuator_set_parts(struct actuator *a,
                       uint64_t limit,
                       const uint64_t part[],
                       struct es_error *err);
/* Restore the values found at the start, if anything was set. */
void actuator_restore(struct actuator *a);
/* The same, and remove what was created for the tasks. */
void actuator_close(struct actuator *a);

#endif
