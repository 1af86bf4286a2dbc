/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_recover.h - after a loss: what has to be done again, and where.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_RECOVER_H
#define LAUNCHER_GRAPH_GRAPH_RECOVER_H

#include "launcher/graph/graph_running.h"

/* Something is gone: see what must be done again, and by whom. */
void graph_recover(struct graph_running *r);
/* A node that was lost is here again: what has not begun yet is placed anew,
 * on all nodes. */
void graph_rebalance(struct graph_running *r);

#endif
