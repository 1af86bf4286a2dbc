/* SPDX-License-Identifier: BSD-2-Clause */
/* Small random task graphs, whose times and messages often tie.  They are whole
 * seconds, so that joules are exact. */
#ifndef DRAWN_GRAPH_H
#define DRAWN_GRAPH_H

#include "policy/graph.h"
#include "tap.h"

#define DRAWN_TASKS 12 /* at most */
#define DRAWN_S     INT64_C(1000000000)

static inline uint32_t drawn_number(uint32_t bound)
{
    static uint32_t x = 1;

    x = x * 1664525u + 1013904223u;
    return (x >> 8) % bound;
}

/* A graph as a table: comm[u][v] of an edge, or -1. */
struct drawn {
    uint32_t n;
    int64_t time[DRAWN_TASKS], comm[DRAWN_TASKS][DRAWN_TASKS];
};

/* One at random, always the same ones; to be destroyed. */
static inline struct graph *draw_graph(struct drawn *t)
{
    uint32_t along[DRAWN_TASKS], m = 0;
    struct graph_edge edge[3 * DRAWN_TASKS];
    struct graph *g;

    memset(t, -1, sizeof *t);
    t->n = 1 + drawn_number(DRAWN_TASKS);
    for (uint32_t v = 0; v < t->n; v++) {
        uint32_t at = drawn_number(v + 1);

        t->time[v] = drawn_number(4) * DRAWN_S;
        along[v] = along[at];
        along[at] = v;
    }
    for (uint32_t i = drawn_number(3 * DRAWN_TASKS); i > 0 && t->n > 1; i--) {
        uint32_t a = drawn_number(t->n - 1),
                 b = a + 1 + drawn_number(t->n - 1 - a);
        int64_t *comm = &t->comm[along[a]][along[b]];

        edge[m] =
            (struct graph_edge){along[a], along[b], drawn_number(4) * DRAWN_S};
        *comm = (*comm < 0 ? 0 : *comm) + edge[m++].comm;
    }
    if (graph_create(&g, t->time, t->n, edge, m, NULL) != GRAPH_SOUND)
        bail("refused");
    return g;
}

#endif
