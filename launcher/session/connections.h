/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * connections.h - the connection table of a step (conntable.h), from what its
 * nodes' agents have said of their adapters and where Slurm put the tasks.
 */
#ifndef LAUNCHER_SESSION_CONNECTIONS_H
#define LAUNCHER_SESSION_CONNECTIONS_H

#include "launcher/session/session.h"

/*
 * text: what `sattach --layout` printed; changed while it is read.  tasks: how
 * many tasks each node has, a result for each.  Returns a file in memory,
 * for the caller to close, or -1.
 */
int connections_file(const struct session *s,
                     char *text,
                     uint32_t tasks[],
                     struct es_error *err);
/* Likewise with a task on each node that is present, by the nodes' numbers: of
 * programs that stay alive. */
int connections_of_nodes(const struct session *s,
                         uint32_t tasks[],
                         struct es_error *err);

#endif
