/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_dot_node.h - nodes of a graph in DOT that libcgraph has parsed.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_DOT_NODE_H
#define LAUNCHER_GRAPH_GRAPH_DOT_NODE_H

#include <graphviz/cgraph.h>
#include <stdint.h>

/* An attribute's text; "" if there is none. */
const char *dot_text(void *object, const char *key);

/* Number all nodes from 0, in the order of the file; how many there are. */
uint32_t dot_number_nodes(Agraph_t *g);
uint32_t dot_number(Agnode_t *node);

#endif
