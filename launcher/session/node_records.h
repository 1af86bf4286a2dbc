/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node_records.h - what is known of the nodes when a step begins, for its
 * report: a list with an object each,
 *
 *   {"node":"n0","JL":25.1,"counted":{"C":11.8,...},"cached":false,
 *    "hardware":"...","probe":{"C":{...},...}}
 *
 * with what the ranking counted, and probe_json.h's elements.  Members of which
 * nothing is known are left out.
 */
#ifndef LAUNCHER_SESSION_NODE_RECORDS_H
#define LAUNCHER_SESSION_NODE_RECORDS_H

#include "launcher/session/qualification.h"

#include <jansson.h>

/* NULL if memory ran out. */
json_t *node_records(const struct qualification *q);
/* What they have just measured, for a session to come (its setup's known):
 *   {"node":"n0","boot_id":"...","cpus":4,"hardware":"...","probe":{...}}
 * NULL if one of them has not, or memory ran out. */
json_t *node_records_new(const struct qualification *q);

#endif
