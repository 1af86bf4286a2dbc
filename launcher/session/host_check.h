/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host_check.h - checks that there is one agent on every node: srun's options
 * may have placed them otherwise, and a node without one would be left out in
 * silence.  Pure but for allocation.
 */
#ifndef LAUNCHER_SESSION_HOST_CHECK_H
#define LAUNCHER_SESSION_HOST_CHECK_H

#include "pmix_bcast/error.h"

#include <stddef.h>

/*
 *   name    where the agents run, n of them; sorted by this
 *   wanted  the number of nodes; 0: not known
 *
 * 0, or -1 with ES_ENV: a node has two agents, or some nodes have none.
 * O(n log n).
 */
int host_check(const char **name,
               size_t n,
               size_t wanted,
               struct es_error *err);

#endif
