/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/host_check.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int host_check(const char **name, size_t n, size_t wanted, struct es_error *err)
{
    qsort(name, n, sizeof *name, by_name);
    for (size_t i = 1; i < n; i++)
        if (strcmp(name[i - 1], name[i]) == 0)
            return es_fail(err, ES_ENV,
                           "let srun start one task a node (see --srun)",
                           "two of the %zu agents are on %.255s", n, name[i]);
    if (wanted == 0 || wanted == n)
        return 0;
    return es_fail(err, ES_ENV,
                   "let srun start a task on every node of the job",
                   "the agents are on %zu nodes, but there are %zu", n, wanted);
}
