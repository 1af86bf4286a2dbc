/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_node.h - the node side of `evenstep graph run`: runs the tasks of its
 * cores, each as soon as the core is free and what it waits for is here, and
 * fetches from other nodes what they have made.
 */
#ifndef LAUNCHER_AGENT_GRAPH_NODE_H
#define LAUNCHER_AGENT_GRAPH_NODE_H

#include "launcher/wire/graph_message.h"
#include "pmix_bcast/mesh.h"
#include "pmix_bcast/wireup.h"

struct event_base;
struct throttle;
struct graph_node;

struct graph_node_setup {
    struct event_base *base;
    const struct secret *secret;
    const struct wireup *wireup;
    struct mesh *mesh;
    const char *node, *front_address;
    char **environ;            /* for the tasks */
    struct throttle *throttle; /* NULL: full speed; else one task at a time */
    void (*send)(void *arg, enum graph_kind kind, struct writer *w);
    void (*idle)(void *arg); /* after graph_node_stop(): all have ended */
    void *arg;
};

/* Open the folder and say OPENED.  NULL if memory ran out. */
struct graph_node *graph_node_start(const struct graph_node_setup *setup,
                                    const struct graph_open *open);
/* A message has come; -1 if it breaks the protocol. */
int graph_node_receive(struct graph_node *g,
                       enum graph_kind kind,
                       const uint8_t *body,
                       size_t len);
/* Forget what waits and end what runs; how many are still at it.  NULL is
 * allowed. */
unsigned graph_node_stop(struct graph_node *g);
/* End it, at once; NULL is allowed. */
void graph_node_destroy(struct graph_node *g);

#endif
