/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node_numbers.h - a number for each simulated node, from the text of an
 * option and the number of nodes.
 */
#ifndef LAUNCHER_WHATIF_NODE_NUMBERS_H
#define LAUNCHER_WHATIF_NODE_NUMBERS_H

#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>

#define SIMULATED_NODES_MAX 65536

/*
 * The numbers of text, "80,40", each from low to high, repeated until there is
 * one for each of nodes; nodes 0: as many as there are numbers.  *n is how
 * many.  Returns them, to be freed, or NULL with err; name: of the option.
 */
double *node_numbers_parse(const char *name,
                           const char *text,
                           double low,
                           double high,
                           uint64_t nodes,
                           size_t *n,
                           struct es_error *err);

#endif
