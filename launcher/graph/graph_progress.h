/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_progress.h - what a person sees while a task graph runs: on a terminal
 * one line with a bar that is redrawn, elsewhere a plain line now and then.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_PROGRESS_H
#define LAUNCHER_GRAPH_GRAPH_PROGRESS_H

#include <stdint.h>

struct graph_progress {
    uint32_t tasks;
    int64_t planned; /* ns in all */
    int terminal;
    uint32_t said;    /* tasks done when the last line was said */
    int64_t drawn_ns; /* when the bar was drawn last */
};

void graph_progress_start(struct graph_progress *p,
                          uint32_t tasks,
                          int64_t planned);
/* So many tasks are done, so many ns after the start. */
void graph_progress_task(struct graph_progress *p, uint32_t done, int64_t at);
/* Take the bar away, to say something else. */
void graph_progress_stop(const struct graph_progress *p);

#endif
