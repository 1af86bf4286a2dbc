/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_progress.h"
#include "launcher/base/notice.h"
#include "policy/graph.h"

#include <stdio.h>

#define BAR_CELLS 30
#define LINES     10 /* in all, where nobody can redraw */
/* Ten times a second is smooth and costs nothing. */
#define REDRAW_NS 100000000

void graph_progress_start(struct graph_progress *p,
                          uint32_t tasks,
                          int64_t planned)
{
    *p = (struct graph_progress){.tasks = tasks,
                                 .planned = planned,
                                 .terminal = notice_is_terminal(),
                                 .drawn_ns = -REDRAW_NS};
}

static void draw(struct graph_progress *p, uint32_t done, int64_t at)
{
    char bar[BAR_CELLS + 1], line[160];
    uint32_t filled = (uint32_t)((uint64_t)done * BAR_CELLS / p->tasks);

    if (at - p->drawn_ns < REDRAW_NS)
        return;
    p->drawn_ns = at;
    for (uint32_t i = 0; i < BAR_CELLS; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR_CELLS] = '\0';
    snprintf(line, sizeof line, "[%s] %u of %u tasks, %.1f of %.1f s", bar,
             done, p->tasks, (double)at / GRAPH_NS_PER_S,
             (double)p->planned / GRAPH_NS_PER_S);
    notice_progress(line);
}

void graph_progress_task(struct graph_progress *p, uint32_t done, int64_t at)
{
    uint32_t step = (p->tasks + LINES - 1) / LINES;

    if (p->terminal) {
        draw(p, done, at);
    } else if (done >= p->said + step || done == p->tasks) {
        p->said = done;
        notice("%u of %u tasks, %.1f of %.1f s", done, p->tasks,
               (double)at / GRAPH_NS_PER_S,
               (double)p->planned / GRAPH_NS_PER_S);
    }
}

void graph_progress_stop(const struct graph_progress *p)
{
    if (p->terminal)
        notice_progress(NULL);
}
