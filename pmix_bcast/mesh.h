/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mesh.h - where an agent is called by other agents: for a broadcast, for an
 * exchange of files, or only to see whether they can.
 *
 * A caller says first what it wants (link.h).  GREET is answered with GREETED.
 * A caller with HELLO is handed to the broadcast of that number, or to the
 * exchange; or it waits, as one node may have its order before another.
 */
#ifndef PMIX_BCAST_MESH_H
#define PMIX_BCAST_MESH_H

#include "pmix_bcast/bcast_node.h"
#include "pmix_bcast/exchange.h"

struct mesh;

struct mesh *mesh_create(struct event_base *base);
/* A listener's called(), of PURPOSE_MESH. */
void mesh_take(void *mesh, struct listener *l, int fd);
/* The broadcast at work, or NULL; it must outlive its place here. */
void mesh_set_broadcast(struct mesh *m, struct bcast_node *b);
/* The exchange, or NULL; likewise. */
void mesh_set_exchange(struct mesh *m, struct exchange *x);
void mesh_destroy(struct mesh *m);

#endif
