/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_fault.h"
#include "launcher/base/notice.h"

#include <stdlib.h>

/* A task that fits no node: what it wants, and what there is. */
static int tell_misfit(uint32_t v,
                       const struct machine *m,
                       const struct graph_file *f,
                       struct es_error *err)
{
    const struct graph_need *need = &f->graph->need[v];
    char *id = json_dumps(json_array_get(f->ids, v), JSON_ENCODE_ANY);
    double bytes = 0;
    uint32_t cores = 0;

    for (uint32_t p = 0; p < (m->kind ? m->processors : 1); p++) {
        double own = m->kind ? m->kind[p].core_bytes : m->core_bytes;

        if (machine_cores(m, p) > cores)
            cores = machine_cores(m, p);
        if (own * machine_cores(m, p) > bytes)
            bytes = own * machine_cores(m, p);
    }
    if (need->cores > cores)
        (void)es_fail(err, ES_USAGE, "give larger nodes, or the task fewer",
                      "task %.200s: wants %u cores, and no node has more than "
                      "%u",
                      id ? id : "", need->cores, cores);
    else
        (void)es_fail(err, ES_USAGE, "give larger nodes, or the task less",
                      "task %.200s: wants %.4g GB of memory with %u cores, and "
                      "no node has more than %.4g GB and %u cores",
                      id ? id : "", need->memory / 1e9, need->cores,
                      bytes / 1e9, cores);
    free(id);
    return -1;
}

int graph_fault_tell(enum graph_plan_fault fault,
                     const struct graph_plan *p,
                     const struct graph_plan_wish *wish,
                     const struct graph_file *f,
                     struct es_error *err)
{
    switch (fault) {
    case GRAPH_PLAN_MISFIT:
        return tell_misfit(p->misfit, &wish->machine, f, err);
    case GRAPH_PLAN_SLOW:
        return es_fail(err, ES_USAGE, "leave the slowest out",
                       "--speeds: one is less than a %g-th of another, or too "
                       "slow for the graph",
                       MACHINE_SLOWNESS_MAX);
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
