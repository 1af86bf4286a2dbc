/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_fault.h"
#include "launcher/base/notice.h"

int graph_fault_tell(enum graph_plan_fault fault,
                     const struct graph_plan_wish *wish,
                     struct es_error *err)
{
    switch (fault) {
    case GRAPH_PLAN_MACHINE: /* what else can be wrong was seen to */
        return es_fail(err, ES_USAGE, "give fewer cores",
                       "--cores: %u for each path are above %u in all",
                       wish->machine.cores, SCHEDULE_CORES_MAX);
    case GRAPH_PLAN_FEW:
        return es_fail(err, ES_USAGE, "give more, or --group best",
                       "--processors: %u are too few for the paths, ungrouped",
                       wish->machine.processors);
    case GRAPH_PLAN_LONG:
        return es_fail(err, ES_USAGE, "give --algorithm ead",
                       "the paths hold more than %u copies of tasks",
                       GRAPH_MEMBERS_MAX);
    case GRAPH_PLAN_DENSE:
        return es_fail(err, ES_USAGE, "give --group none, or --algorithm ead",
                       "the paths depend on each other in more than %u ways",
                       GROUPING_DEPENDENCES_MAX);
    default:
        return es_no_memory(err);
    }
}

void graph_fault_tell_default(const struct graph_plan *p,
                              const struct graph_plan_wish *wish)
{
    if (!wish->is_default)
        return;
    notice("no deadline given: %g s, %g times what %s takes",
           (double)p->deadline / GRAPH_NS_PER_S, wish->deadline_factor,
           p->is_relaxed ? "the fastest plan here" : "the graph ungrouped");
}
