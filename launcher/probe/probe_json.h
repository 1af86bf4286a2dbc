/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_json.h - a node's results as JSON, out and in.
 *
 *   {"C": {"name": "CPU", "unit": "Gop/s", "value": 11.8, "spread": 0.01,
 *          "seconds": 0.26, "count": 2, "capacity_bytes": 0,
 *          "what": "2 CPUs on 2 cores"},
 *    "S": {"name": "storage", "unit": "MB/s", "value": null, "spread": 0, …,
 *          "what": "scratch /tmp is full: …"}}
 *
 * A value of null was not measured, and "what" says why not; an element that
 * nobody asked for is not there.
 */
#ifndef LAUNCHER_PROBE_PROBE_JSON_H
#define LAUNCHER_PROBE_PROBE_JSON_H

#include "launcher/probe/probe_result.h"
#include "pmix_bcast/error.h"

#include <jansson.h>

/* Owned by the caller; NULL if memory ran out. */
json_t *probe_to_json(const struct probe_result result[ELEMENTS]);

/*
 * Read it back.  Fails, and leaves result[] untouched, on anything that
 * probe_to_json() would not write: an element or a unit that is not known, a
 * missing or unknown key, a number that is negative or out of range.
 */
int probe_from_json(struct probe_result result[ELEMENTS],
                    json_t *json,
                    struct es_error *err);

#endif
