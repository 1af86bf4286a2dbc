/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_state.h"
#include "pmix_bcast/array.h"

#include <stdlib.h>
#include <string.h>

/* --- tokens of tasks ------------------------------------------------------ */

uint32_t graph_state_task_token(const struct graph_state *s, uint32_t task)
{
    return s->work->files + task;
}

uint32_t graph_state_maker(const struct graph_state *s, uint32_t token)
{
    return token < s->work->files ? s->work->file[token].maker
                                  : token - s->work->files;
}

/* Does v take a file that u makes? */
static int takes_of(const struct graph_state *s, uint32_t v, uint32_t u)
{
    const struct graph_work_task *t = &s->work->task[v];

    for (uint32_t i = 0; i < t->inputs; i++)
        if (s->work->file[t->input[i]].maker == u)
            return 1;
    return 0;
}

static int find_tokens(struct graph_state *s, uint32_t v)
{
    const struct graph *g = s->graph;
    const struct graph_work_task *w = &s->work->task[v];
    struct task_state *t = &s->task[v];
    uint32_t preds = g->pred_at[v + 1] - g->pred_at[v];

    t->first = t->excluded = GRAPH_NOBODY;
    t->token = calloc(w->inputs + (size_t)preds + 1, sizeof *t->token);
    if (!t->token)
        return -1;
    for (uint32_t i = 0; i < w->inputs; i++)
        t->token[t->tokens++] = w->input[i];
    for (uint32_t i = g->pred_at[v]; i < g->pred_at[v + 1]; i++)
        if (!takes_of(s, v, g->pred[i].task))
            t->token[t->tokens++] = graph_state_task_token(s, g->pred[i].task);
    return 0;
}

int graph_state_init(struct graph_state *s,
                     const struct graph *g,
                     const struct graph_work *w,
                     uint32_t nodes)
{
    *s = (struct graph_state){.graph = g, .work = w, .nodes = nodes};
    s->tokens = w->files + g->tasks;
    s->task = calloc(g->tasks, sizeof *s->task);
    s->token = calloc(s->tokens, sizeof *s->token);
    s->usable = malloc(nodes);
    if (!s->task || !s->token || !s->usable)
        return -1;
    memset(s->usable, 1, nodes);
    for (uint32_t v = 0; v < g->tasks; v++)
        if (find_tokens(s, v) < 0)
            return -1;
    return 0;
}

void graph_state_clear(struct graph_state *s)
{
    for (uint32_t v = 0; s->task && v < s->graph->tasks; v++)
        free(s->task[v].token);
    for (uint32_t i = 0; s->token && i < s->tokens; i++)
        free(s->token[i].holder);
    free(s->task);
    free(s->token);
    free(s->usable);
    free(s->place);
    *s = (struct graph_state){0};
}

/* --- places --------------------------------------------------------------- */

uint32_t graph_state_add(struct graph_state *s, const struct place *place)
{
    uint32_t *first = &s->task[place->task].first, i = s->places;
    struct place *grown = array_grow(s->place, &s->room, i + (size_t)1,
                                     sizeof *grown, GRAPH_NOBODY);

    if (!grown)
        return GRAPH_NOBODY;
    s->place = grown;
    s->place[i] = *place;
    s->place[i].state = PLACE_WAITING;
    s->place[i].next = *first;
    *first = i;
    s->places++;
    s->waiting++;
    return i;
}

void graph_state_end(struct graph_state *s,
                     uint32_t place,
                     enum place_state state)
{
    s->place[place].state = state;
    s->waiting--;
}

uint32_t graph_state_waiting(const struct graph_state *s,
                             uint32_t task,
                             uint32_t node)
{
    uint32_t i = s->task[task].first;

    while (i != GRAPH_NOBODY
           && (s->place[i].state != PLACE_WAITING
               || (node != GRAPH_NOBODY && s->place[i].node != node)))
        i = s->place[i].next;
    return i;
}

/* --- holders -------------------------------------------------------------- */

struct holder *graph_state_holder(const struct graph_state *s,
                                  uint32_t token,
                                  uint32_t node)
{
    const struct token_state *t = &s->token[token];

    for (uint32_t i = 0; i < t->holders; i++)
        if (t->holder[i].node == node)
            return &t->holder[i];
    return NULL;
}

const struct holder *graph_state_source(const struct graph_state *s,
                                        uint32_t token,
                                        uint32_t but)
{
    const struct token_state *t = &s->token[token];

    for (uint32_t i = 0; i < t->holders; i++)
        if (t->holder[i].from == HOLDER_HERE && t->holder[i].node != but)
            return &t->holder[i];
    return NULL;
}

int graph_state_hold(struct graph_state *s,
                     uint32_t token,
                     const struct holder *holder)
{
    struct holder *h = graph_state_holder(s, token, holder->node);
    struct token_state *t = &s->token[token];

    if (!h) {
        h = reallocarray(t->holder, t->holders + (size_t)1, sizeof *h);
        if (!h)
            return -1;
        t->holder = h;
        h += t->holders++;
    }
    *h = *holder;
    return 0;
}

void graph_state_let_go(struct graph_state *s, uint32_t token, uint32_t node)
{
    struct token_state *t = &s->token[token];
    struct holder *h = graph_state_holder(s, token, node);

    if (h)
        *h = t->holder[--t->holders];
}

/* --- losses --------------------------------------------------------------- */

void graph_state_lose(struct graph_state *s, uint32_t node)
{
    s->usable[node] = 0;
    for (uint32_t i = 0; i < s->places; i++)
        if (s->place[i].node == node && s->place[i].state == PLACE_WAITING)
            graph_state_end(s, i, PLACE_GONE);
    for (uint32_t i = 0; i < s->tokens; i++)
        graph_state_let_go(s, i, node);
}

int graph_state_may_run(const struct graph_state *s, uint32_t place)
{
    const struct place *p = &s->place[place];
    const struct graph *g = s->graph;
    const uint32_t *rank = s->order ? s->order : g->rank;

    for (uint32_t k = g->pred_at[p->task]; k < g->pred_at[p->task + 1]; k++)
        if (!s->task[g->pred[k].task].done)
            return 0;
    for (uint32_t i = 0; i < s->places; i++) {
        const struct place *other = &s->place[i];

        if (other->state == PLACE_WAITING && other->node == p->node
            && other->core == p->core && rank[other->task] < rank[p->task])
            return 0;
    }
    return 1;
}

/* Does v, which is still to run, lack the token somewhere? */
static int lacks(const struct graph_state *s, uint32_t v, uint32_t token)
{
    uint32_t i = s->task[v].first;
    int waits = 0;

    for (; i != GRAPH_NOBODY; i = s->place[i].next) {
        const struct holder *h;

        if (s->place[i].state != PLACE_WAITING)
            continue;
        waits = 1;
        h = graph_state_holder(s, token, s->place[i].node);
        if (!h || h->from != HOLDER_HERE)
            return 1;
    }
    return !waits && !s->task[v].done;
}

/* Is something that v has made nowhere, and needed? */
static int is_missed(const struct graph_state *s,
                     uint32_t v,
                     const uint8_t delivered[])
{
    const struct graph_work_task *t = &s->work->task[v];
    const struct graph *g = s->graph;

    for (uint32_t i = 0; i < t->outputs; i++) {
        uint32_t f = t->output[i];

        if (graph_state_source(s, f, GRAPH_NOBODY))
            continue;
        if (s->work->file[f].takers == 0 && !delivered[f])
            return 1;
        for (uint32_t k = g->succ_at[v]; k < g->succ_at[v + 1]; k++) {
            uint32_t w = g->succ[k].task;
            const struct task_state *to = &s->task[w];

            for (uint32_t j = 0; j < to->tokens; j++)
                if (to->token[j] == f && lacks(s, w, f))
                    return 1;
        }
    }
    return 0;
}

/* Last first: whether a task must run again depends on those after it. */
void graph_state_review(struct graph_state *s, const uint8_t delivered[])
{
    for (uint32_t i = s->graph->tasks; i-- > 0;) {
        uint32_t v = s->graph->ranked[i];

        if (s->task[v].done && is_missed(s, v, delivered)) {
            s->task[v].done = 0;
            s->tasks_done--;
        }
    }
}
