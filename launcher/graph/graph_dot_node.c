/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_dot_node.h"

#include <stdio.h>

#define KEY_MAX 16

const char *dot_text(void *object, const char *key)
{
    char name[KEY_MAX]; /* agget() wants one that is not const */
    const char *text;

    snprintf(name, sizeof name, "%s", key);
    text = agget(object, name);
    return text ? text : "";
}

struct numbered {
    Agrec_t header;
    uint32_t number;
};

uint32_t dot_number_nodes(Agraph_t *g)
{
    static char record[] = "number";
    uint32_t n = 0;

    aginit(g, AGNODE, record, (int)sizeof(struct numbered), 1);
    for (Agnode_t *v = agfstnode(g); v; v = agnxtnode(g, v))
        ((struct numbered *)AGDATA(v))->number = n++;
    return n;
}

uint32_t dot_number(Agnode_t *node)
{
    return ((struct numbered *)AGDATA(node))->number;
}
