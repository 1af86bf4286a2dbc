/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mesh.h - an agent's open door: the other agents that call it, for a
 * broadcast, for an exchange of files, or just to see whether they can.
 *
 * A caller says first what it wants (link.h): GREET is answered with GREETED;
 * HELLO goes to the broadcast of that number, or to the exchange, or waits for
 * it: the order of one node may be here before that of another.
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
