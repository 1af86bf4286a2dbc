/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_recover.h"
#include "launcher/base/notice.h"
#include "launcher/graph/graph_stage_in.h"
#include "launcher/graph/graph_stage_out.h"
#include "policy/replan.h"

#include <stdlib.h>
#include <string.h>

/* Add the nodes that have what a task made; at least one, as the planner needs
 * one. */
static void add_done(const struct graph_running *r,
                     uint32_t v,
                     struct instance x[],
                     uint32_t *n)
{
    const struct graph_work_task *t = &r->work.task[v];
    const struct token_state *file =
        t->outputs ? &r->state.token[t->output[0]] : NULL;
    uint32_t before = *n, node = 0;

    for (uint32_t i = 0; file && i < file->holders; i++)
        if (file->holder[i].from == HOLDER_HERE)
            x[(*n)++] = (struct instance){v, file->holder[i].node, 0, 0, 0};
    while (!r->state.usable[node])
        node++; /* at least one node is left */
    if (*n == before)
        x[(*n)++] = (struct instance){v, node, 0, 0, 0};
}

/* What is known of where tasks are: those done, and those that wait. */
static struct instance *list_instances(const struct graph_running *r,
                                       uint32_t *n)
{
    const struct graph_state *s = &r->state;
    size_t room = s->waiting + 2 * (size_t)s->graph->tasks;
    struct instance *x;

    for (uint32_t i = 0; i < r->work.files; i++)
        room += s->token[i].holders;
    x = calloc(room, sizeof *x);
    *n = 0;
    for (uint32_t v = 0; x && v < s->graph->tasks; v++)
        if (s->task[v].done)
            add_done(r, v, x, n);
    for (uint32_t i = 0; x && i < s->places; i++) {
        const struct place *p = &s->place[i];

        if (p->state == PLACE_WAITING && !s->task[p->task].done)
            x[(*n)++] = (struct instance){p->task, p->node, p->core, 0, 0};
    }
    return x;
}

static int place_anew(struct graph_running *r,
                      const struct instance x[],
                      uint32_t n)
{
    int64_t now = graph_running_ns(r);

    for (uint32_t i = 0; i < n; i++) {
        struct place p = {.task = x[i].task,
                          .node = x[i].processor,
                          .core = x[i].core,
                          .planned_start = now + x[i].start,
                          .planned_finish = now + x[i].finish};

        if (!r->state.task[p.task].done
            && graph_state_waiting(&r->state, p.task, GRAPH_NOBODY)
                   == GRAPH_NOBODY
            && graph_add_place(r, &p) < 0)
            return -1;
    }
    return 0;
}

/* The nodes that the plan was allowed to use; if none of them is left, all. */
static uint8_t *list_usable(const struct graph_running *r)
{
    uint32_t nodes = r->state.nodes, left = 0;
    uint8_t *usable = calloc(nodes, 1);

    for (uint32_t i = 0; usable && i < r->machine.processors; i++) {
        usable[i] = r->state.usable[i];
        left += usable[i];
    }
    if (usable && left == 0)
        memcpy(usable, r->state.usable, nodes);
    return usable;
}

static void tell_replanned(const struct graph_running *r,
                           uint32_t tasks,
                           int64_t makespan)
{
    int64_t at = graph_running_ns(r) + makespan;

    graph_progress_stop(&r->progress);
    notice("%u task%s placed anew: all is done after about %.1f s%s", tasks,
           tasks == 1 ? " is" : "s are", (double)at / GRAPH_NS_PER_S,
           at > r->deadline ? ", later than the deadline" : "");
}

/* Find places for the tasks that have none. */
static int replan(struct graph_running *r, uint32_t unplaced)
{
    const struct graph_state *s = &r->state;
    uint32_t tasks = s->graph->tasks, n;
    struct instance *x = list_instances(r, &n);
    struct machine all = r->machine;
    uint8_t *done = calloc(tasks, 1), *usable = list_usable(r);
    uint32_t *excluded = calloc(tasks, sizeof *excluded);
    int64_t makespan = 0;
    int rc = -1;

    for (uint32_t v = 0; done && excluded && v < tasks; v++) {
        done[v] = s->task[v].done;
        excluded[v] = s->task[v].excluded;
    }
    all.processors = s->nodes;
    if (!x || !done || !usable || !excluded
        || replan_place(s->graph, &all, done, usable, excluded, x, &n,
                        &makespan)
               < 0)
        (void)es_no_memory(r->err);
    else
        rc = place_anew(r, x, n);
    if (rc == 0)
        tell_replanned(r, unplaced, makespan);
    free(x);
    free(done);
    free(usable);
    free(excluded);
    return rc;
}

void graph_recover(struct graph_running *r)
{
    const struct graph_state *s = &r->state;
    uint32_t unplaced = 0;

    graph_state_review(&r->state, r->delivered);
    for (uint32_t v = 0; v < s->graph->tasks; v++)
        unplaced += !s->task[v].done
                    && graph_state_waiting(s, v, GRAPH_NOBODY) == GRAPH_NOBODY;
    if (unplaced > 0 && replan(r, unplaced) < 0) {
        graph_finish(r, 1);
        return;
    }
    for (uint32_t i = 0; i < s->places; i++)
        if (s->place[i].state == PLACE_WAITING && graph_stage_in(r, i) < 0) {
            graph_finish(r, 1);
            return;
        }
    graph_stage_out_all(r);
}

static void take_back(struct graph_running *r, uint32_t place)
{
    struct writer w = {0};

    graph_write_drop(&w, place);
    graph_say(r, r->state.place[place].node, GRAPH_MSG_DROP, &w);
    graph_state_end(&r->state, place, PLACE_GONE);
}

void graph_rebalance(struct graph_running *r)
{
    const struct graph_state *s = &r->state;
    uint8_t *runs = calloc(s->places + (size_t)1, 1);

    if (!runs) {
        graph_finish(r, es_no_memory(r->err));
        return;
    }
    for (uint32_t i = 0; i < s->places; i++)
        runs[i] =
            s->place[i].state == PLACE_WAITING && graph_state_may_run(s, i);
    for (uint32_t i = 0; i < s->places; i++)
        if (s->place[i].state == PLACE_WAITING && !runs[i])
            take_back(r, i);
    free(runs);
    graph_recover(r);
}
