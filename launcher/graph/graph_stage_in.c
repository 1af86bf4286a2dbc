/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_stage_in.h"

#include <stdio.h>
#include <stdlib.h>

/* --- what a task waits for goes to its node ------------------------------- */

static void send_bring(struct graph_running *r,
                       uint32_t node,
                       uint32_t token,
                       uint32_t from,
                       const struct exchange_file *file)
{
    struct graph_bring m = {.token = token, .from = FRONT_END};
    struct writer w = {0};

    if (file) {
        m.is_file = 1;
        m.from = from;
        m.file = *file;
        m.file.number = token;
    }
    graph_write_bring(&w, &m);
    graph_say(r, node, GRAPH_MSG_BRING, &w);
}

void graph_send_here(struct graph_running *r, uint32_t node, uint32_t token)
{
    send_bring(r, node, token, HOLDER_HERE, NULL);
}

/* Will the node itself have made the token when the place needs it? */
static int comes_by_itself(const struct graph_running *r,
                           const struct place *p,
                           uint32_t maker)
{
    uint32_t own = graph_state_waiting(&r->state, maker, p->node);

    return own != GRAPH_NOBODY
           && r->state.place[own].planned_finish <= p->planned_start;
}

/* Have the token brought to the node of the place.  What no node has yet
 * follows when it is made. 0, or -1 if memory ran out. */
static int stage_in_one(struct graph_running *r,
                        const struct place *p,
                        uint32_t token)
{
    uint32_t maker = graph_state_maker(&r->state, token);
    struct holder h = {.node = p->node, .from = FRONT_END};

    if (graph_state_holder(&r->state, token, p->node))
        return 0;
    if (maker == GRAPH_NOBODY) {
        h.file = r->user[token].file;
    } else if (!r->state.task[maker].done || comes_by_itself(r, p, maker)) {
        return 0;
    } else if (token >= r->work.files) {
        h.from = HOLDER_HERE;
    } else {
        const struct holder *source =
            graph_state_source(&r->state, token, p->node);

        if (!source)
            return 0;
        h.from = source->node;
        h.file = source->file;
    }
    send_bring(r, p->node, token, h.from,
               h.from == HOLDER_HERE ? NULL : &h.file);
    return graph_state_hold(&r->state, token, &h);
}

int graph_stage_in(struct graph_running *r, uint32_t place)
{
    struct place p = r->state.place[place];
    const struct task_state *t = &r->state.task[p.task];

    for (uint32_t i = 0; i < t->tokens; i++)
        if (stage_in_one(r, &p, t->token[i]) < 0)
            return es_no_memory(r->err);
    return 0;
}

int graph_stage_in_followers(struct graph_running *r,
                             uint32_t task,
                             uint32_t node)
{
    const struct graph *g = r->f->graph;

    for (uint32_t k = g->succ_at[task]; k < g->succ_at[task + 1]; k++) {
        uint32_t i = r->state.task[g->succ[k].task].first;

        for (; i != GRAPH_NOBODY; i = r->state.place[i].next)
            if (r->state.place[i].state == PLACE_WAITING
                && (node == GRAPH_NOBODY || r->state.place[i].node == node)
                && graph_stage_in(r, i) < 0)
                return -1;
    }
    return 0;
}

/* --- places --------------------------------------------------------------- */

static struct graph_named *name_files(const struct graph_work *w,
                                      const uint32_t file[],
                                      uint32_t n)
{
    struct graph_named *named = calloc(n + (size_t)1, sizeof *named);

    for (uint32_t i = 0; named && i < n; i++)
        named[i] = (struct graph_named){file[i], w->file[file[i]].name};
    return named;
}

int graph_send_task(struct graph_running *r, uint32_t place)
{
    const struct place *p = &r->state.place[place];
    const struct graph_work_task *t = &r->work.task[p->task];
    const struct task_state *s = &r->state.task[p->task];
    struct graph_task m = {
        .id = place,
        .core = p->core,
        .cores = machine_width(&r->machine, r->f->graph, p->task, p->node),
        .of = session_is_local(r->front.session)
                  ? 0 /* they share this machine */
                  : machine_cores(&r->machine, p->node),
        .order = r->order ? r->order[p->task] : r->f->graph->rank[p->task],
        .makes = graph_state_task_token(&r->state, p->task),
        .argv = t->argv,
        .token = s->token,
        .tokens = s->tokens,
        .input = name_files(&r->work, t->input, t->inputs),
        .output = name_files(&r->work, t->output, t->outputs),
        .inputs = t->inputs,
        .outputs = t->outputs,
    };
    struct writer w = {0};
    int rc;

    if (m.cores == 0)
        m.cores = 1; /* the plan does not do that */
    rc = m.input && m.output ? 0 : es_no_memory(r->err);

    snprintf(m.name, sizeof m.name, "%s", t->name);
    if (rc == 0)
        graph_write_task(&w, &m);
    if (rc == 0 && w.len > MESSAGE_BODY_MAX)
        rc = es_fail(r->err, ES_USAGE, "put the command into a script",
                     "task \"%s\" is over 8 MiB", t->name);
    if (rc == 0)
        graph_say(r, p->node, GRAPH_MSG_TASK, &w);
    else
        writer_clear(&w);
    free(m.input);
    free(m.output);
    return rc;
}

int graph_add_place(struct graph_running *r, const struct place *p)
{
    uint32_t i = graph_state_add(&r->state, p);

    if (i == GRAPH_NOBODY)
        return es_no_memory(r->err);
    return graph_send_task(r, i) < 0 || graph_stage_in(r, i) < 0 ? -1 : 0;
}
