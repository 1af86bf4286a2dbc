/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_top.h - what `evenstep top` shows of a running task graph: each node's
 * tasks, and how late they are (session/top_file.h).
 */
#ifndef LAUNCHER_GRAPH_GRAPH_TOP_H
#define LAUNCHER_GRAPH_GRAPH_TOP_H

#include "launcher/graph/graph_state.h"
#include "launcher/session/front.h"
#include "launcher/session/top_place.h"

struct event;

/* What is looked at; all of it outlives graph_top. */
struct graph_top_setup {
    const struct graph_state *state;
    const struct session *session;
    const char *file;
    uint32_t cores;
    int64_t begin_ns, planned; /* when it began, and how long it may take */
};

struct graph_top { /* all zero: not started */
    struct graph_top_setup of;
    struct top_place place;
    struct top_part *part; /* one a node */
    uint32_t *next;        /* by core: the place that is its first */
    struct event *look;
};

/* The plan has been made.  Without memory nothing is shown. */
void graph_top_start(struct graph_top *t,
                     struct event_base *base,
                     const struct graph_top_setup *of);
/* How the nodes stand so many ns after the start; one each, names left out.
 * next: workspace, one a core of each node.  Pure; O(places). */
void graph_top_parts(struct top_part part[],
                     uint32_t next[],
                     const struct graph_state *s,
                     uint32_t cores,
                     int64_t now);
void graph_top_stop(struct graph_top *t);

#endif
