/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a task graph: refused with its reason, or planned, every task
 * of it. */
#include "launcher/graph/graph_file.h"
#include "policy/graph_plan.h"

#include <stdlib.h>
#include <string.h>

#define TASKS_MAX 200 /* of a graph that is planned, too: it takes time */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void plan(const struct graph *g)
{
    struct graph_plan_wish w = {.machine = {0, 2, {10, 2, 5, 0}, 0, NULL},
                                .deadline = GRAPH_PLAN_FOREVER};
    struct graph_plan p;
    enum graph_plan_fault fault = graph_plan_init(&p, g, &w);

    if (fault == GRAPH_PLAN_MISFIT && g->need)
        return; /* a task wants more than two cores */
    if (fault != GRAPH_PLAN_SOUND || p.instances < g->tasks || !p.deadline_met)
        abort();
    graph_plan_clear(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct graph_reading how = {1e6, 1, 1, NULL};
    struct es_error err = {0};
    struct graph_file f;
    char *text = malloc(size + 1);
    int rc;

    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    rc = graph_file_parse(&f, "fuzz", text, &how, &err);
    if (rc == 0 ? err.kind != ES_OK || json_array_size(f.ids) != f.graph->tasks
                : f.graph || f.ids || !err.what[0] || !err.mend[0])
        abort();
    if (rc == 0 && f.graph->tasks <= TASKS_MAX)
        plan(f.graph);
    graph_file_clear(&f);
    free(text);
    return 0;
}
