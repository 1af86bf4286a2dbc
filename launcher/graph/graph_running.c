/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_running.h"
#include "pmix_bcast/clock.h"

int64_t graph_running_ns(const struct graph_running *r)
{
    return clock_ns() - r->begin_ns;
}

void graph_finish(struct graph_running *r, int failed)
{
    r->phase = FINISHED;
    front_finish(&r->front, failed);
}

const char *graph_node_name(const struct graph_running *r, uint32_t node)
{
    return session_node(r->front.session, node)->name;
}

void graph_say(struct graph_running *r,
               uint32_t node,
               enum graph_kind kind,
               struct writer *w)
{
    session_send(r->front.session, node, (enum protocol_type)(MSG_GRAPH + kind),
                 w);
}

void graph_check_end(struct graph_running *r)
{
    if (r->state.tasks_done == r->f->graph->tasks && r->state.waiting == 0
        && r->undelivered == 0)
        graph_finish(r, 0);
}
