/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_top.h"
#include "pmix_bcast/clock.h"

#include <event2/event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LOOK_MS 250 /* whether it is time to write */

/* --- the nodes ------------------------------------------------------------ */

static int is_fed(const struct graph_state *s, uint32_t task)
{
    const struct graph *g = s->graph;

    for (uint32_t k = g->pred_at[task]; k < g->pred_at[task + 1]; k++)
        if (!s->task[g->pred[k].task].done)
            return 0;
    return 1;
}

/* A node ends when its last task does, as planned; what is late moves what is
 * behind it. */
static void add_waiting(struct top_part *t, const struct place *p, int64_t now)
{
    t->waiting++;
    t->left = fmax(t->left, (double)(p->planned_finish - now) * 1e-9);
}

/* The first of each core, in the order of the graph, is what it works at if its
 * inputs are made. */
static void find_first(uint32_t next[],
                       const struct graph_state *s,
                       uint32_t cores)
{
    for (size_t i = 0; i < (size_t)s->nodes * cores; i++)
        next[i] = GRAPH_NOBODY;
    for (uint32_t i = 0; i < s->places; i++) {
        const struct place *p = &s->place[i];
        uint32_t *first;

        if (p->state != PLACE_WAITING || p->core >= cores)
            continue;
        first = &next[(size_t)p->node * cores + p->core];
        if (*first == GRAPH_NOBODY
            || s->graph->rank[p->task] < s->graph->rank[s->place[*first].task])
            *first = i;
    }
}

/* How late the tasks are that a node works at, in seconds. */
static double count_running(struct top_part *t,
                            const uint32_t next[],
                            const struct graph_state *s,
                            uint32_t cores,
                            int64_t now)
{
    double late = 0;

    for (uint32_t i = 0; i < cores; i++) {
        const struct place *p =
            next[i] == GRAPH_NOBODY ? NULL : &s->place[next[i]];

        if (!p || !is_fed(s, p->task))
            continue;
        t->running++;
        late = fmax(late, (double)(now - p->planned_finish) * 1e-9);
    }
    t->waiting -= t->running;
    return late;
}

static void end_part(struct top_part *t, int is_usable, double late)
{
    t->part = t->done + t->running + t->waiting;
    t->total = t->done;
    t->left += late;
    if (!is_usable)
        t->state = TOP_LOST;
    else if (t->running > 0)
        t->state = TOP_WORKING;
    else
        t->state = t->waiting > 0 || t->done < 1 ? TOP_IDLE : TOP_DONE;
}

void graph_top_parts(struct top_part part[],
                     uint32_t next[],
                     const struct graph_state *s,
                     uint32_t cores,
                     int64_t now)
{
    for (uint32_t v = 0; v < s->nodes; v++)
        part[v] = (struct top_part){.slots = cores};
    for (uint32_t i = 0; i < s->places; i++) {
        const struct place *p = &s->place[i];

        if (p->state == PLACE_DONE)
            part[p->node].done++;
        else if (p->state == PLACE_WAITING)
            add_waiting(&part[p->node], p, now);
    }
    find_first(next, s, cores);
    for (uint32_t v = 0; v < s->nodes; v++) {
        double late =
            count_running(&part[v], &next[(size_t)v * cores], s, cores, now);

        end_part(&part[v], s->usable[v], late);
        part[v].rate = now > 0 ? part[v].done / ((double)now * 1e-9) : -1;
    }
}

/* --- the file ------------------------------------------------------------- */

static struct top_progress progress_of(const struct graph_top *t, int64_t now)
{
    const struct graph_state *s = t->of.state;
    struct top_progress p = {.done = s->tasks_done,
                             .all = s->graph->tasks,
                             .elapsed = (double)now * 1e-9,
                             .planned = (double)t->of.planned * 1e-9,
                             .efficiency = -1,
                             .gain = -1};

    if (p.elapsed > 0)
        p.rate = p.done / p.elapsed;
    for (uint32_t v = 0; v < s->nodes; v++)
        p.left = fmax(p.left, t->part[v].left);
    return p;
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct graph_top *t = arg;
    const struct graph_state *s = t->of.state;
    int64_t now = clock_ns() - t->of.begin_ns;
    struct top_progress progress;
    struct top_view top = {.kind = TOP_GRAPH,
                           .what = t->of.file,
                           .meter = "",
                           .progress = &progress,
                           .part = t->part,
                           .parts = s->nodes};

    (void)fd;
    (void)what;
    if (!top_place_is_due(&t->place, s->nodes + s->places / 100))
        return;
    graph_top_parts(t->part, t->next, s, t->of.cores, now);
    for (uint32_t v = 0; v < s->nodes; v++)
        snprintf(t->part[v].name, sizeof t->part[v].name, "%s",
                 session_node(t->of.session, v)->name);
    progress = progress_of(t, now);
    session_job(t->of.session, &top.job, &top.step);
    top_place_write(&t->place, &top);
}

void graph_top_start(struct graph_top *t,
                     struct event_base *base,
                     const struct graph_top_setup *of)
{
    struct timeval tv = {0, LOOK_MS * 1000};
    size_t nodes = of->state->nodes;

    *t = (struct graph_top){.of = *of};
    t->part = calloc(nodes, sizeof *t->part);
    t->next = calloc(nodes * of->cores, sizeof *t->next);
    t->look = event_new(base, -1, EV_PERSIST, on_look, t);
    if (!t->part || !t->next || !t->look || event_add(t->look, &tv) < 0)
        graph_top_stop(t);
    else
        top_place_start(&t->place);
}

void graph_top_stop(struct graph_top *t)
{
    top_place_stop(&t->place);
    if (t->look)
        event_free(t->look);
    free(t->part);
    free(t->next);
    *t = (struct graph_top){.part = NULL};
}
