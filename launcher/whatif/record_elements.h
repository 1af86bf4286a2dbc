/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record_elements.h - the elements that the nodes of a report were probed for.
 */
#ifndef LAUNCHER_WHATIF_RECORD_ELEMENTS_H
#define LAUNCHER_WHATIF_RECORD_ELEMENTS_H

#include "policy/metric.h"

#include <jansson.h>

/* The letters that a table of nodes has columns for: the core elements, and
 * those of the site's that a node has in its object `member`. */
void record_elements(char letters[ELEMENTS + 1],
                     const json_t *nodes,
                     const char *member);

/* What a column is called, such as "memory": a static string, or, of the site's
 * elements, one of the report. */
const char *record_element_name(char letter, const json_t *nodes);

#endif
