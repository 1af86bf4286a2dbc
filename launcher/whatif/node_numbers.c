/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/node_numbers.h"

#include "launcher/base/option.h"

#include <inttypes.h>
#include <stdlib.h>

double *node_numbers_parse(const char *name,
                           const char *text,
                           double low,
                           double high,
                           uint64_t nodes,
                           size_t *n,
                           struct es_error *err)
{
    double *v = calloc(SIMULATED_NODES_MAX, sizeof *v);
    size_t given;

    if (!v) {
        es_no_memory(err);
        return NULL;
    }
    given = option_numbers_parse(v, SIMULATED_NODES_MAX, low, high, name, text,
                                 err);
    if (nodes > 0 && nodes < given)
        es_fail(err, ES_USAGE, "give as many nodes, or less numbers",
                "--%s: has %zu for %" PRIu64 " nodes", name, given, nodes);
    if (given == 0 || (nodes > 0 && nodes < given)) {
        free(v);
        return NULL;
    }
    *n = nodes > 0 ? (size_t)nodes : given;
    for (size_t i = given; i < *n; i++)
        v[i] = v[i % given];
    return v;
}
