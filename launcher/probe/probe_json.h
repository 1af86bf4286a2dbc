/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_json.h - writes and reads a node's results as JSON.
 *
 *   {"C": {"name": "CPU", "unit": "Gop/s", "value": 11.8, "spread": 0.01,
 *          "seconds": 0.26, "count": 2, "capacity_bytes": 0,
 *          "what": "2 CPUs on 2 cores"},
 *    "S": {"name": "storage", "unit": "MB/s", "value": null, "spread": 0, …,
 *          "what": "scratch /tmp is full: …"}}
 *
 * G has "compute", too, in Gflop/s, or null.  An element of the site's of
 * which less is better has "better": "less", too; what the links carried between
 * nodes has "between": true.
 * A value of null means that it was not measured, and "what" says why.  An
 * element that was not asked for is left out.
 */
#ifndef LAUNCHER_PROBE_PROBE_JSON_H
#define LAUNCHER_PROBE_PROBE_JSON_H

#include "launcher/probe/probe_result.h"
#include "pmix_bcast/error.h"

#include <jansson.h>

/* The caller owns the result; NULL if memory ran out. */
json_t *probe_to_json(const struct probe_result result[ELEMENTS]);

/*
 * Read results.  Fails, and leaves result[] untouched, on anything that
 * probe_to_json() does not write: an unknown element or unit, a missing or
 * unknown key, a number that is negative or out of range.
 */
int probe_from_json(struct probe_result result[ELEMENTS],
                    json_t *json,
                    struct es_error *err);

#endif
