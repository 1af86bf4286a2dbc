/* SPDX-License-Identifier: BSD-2-Clause */
/* A graph of nine tasks, numbered from 0; its times are as small as by hand. */
#ifndef NINE_TASKS_H
#define NINE_TASKS_H

#include "policy/graph.h"

static const int64_t nine_times[] = {2, 3, 3, 4, 5, 4, 4, 4, 1};
static const struct graph_edge nine_edges[] = {
    {0, 1, 4}, {0, 2, 2}, {0, 3, 1}, {0, 4, 1}, {1, 5, 1}, {1, 6, 1},
    {2, 7, 3}, {3, 7, 3}, {4, 8, 2}, {5, 8, 5}, {6, 8, 6}, {7, 8, 5}};

#endif
