/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_fault.h - why there is no plan, as the user's error; and what the plan
 * takes for granted.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_FAULT_H
#define LAUNCHER_GRAPH_GRAPH_FAULT_H

#include "launcher/graph/graph_draft.h"
#include "pmix_bcast/error.h"
#include "policy/graph_plan.h"

/* Fill err; returns -1. */
int graph_fault_tell(enum graph_plan_fault fault,
                     const struct graph_plan *p,
                     const struct graph_plan_wish *wish,
                     const struct graph_file *f,
                     struct es_error *err);

/* Where nobody gave a deadline: say which one holds. */
void graph_fault_tell_default(const struct graph_plan *p,
                              const struct graph_plan_wish *wish);

#endif
