/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/slots.h"

#include <stdlib.h>
#include <string.h>

int slots_init(struct slots *s, size_t nodes, const uint32_t each[])
{
    size_t n = 0;

    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < nodes; i++)
        n += each ? each[i] : 1;
    s->node = calloc(n, sizeof *s->node);
    s->group = calloc(n, sizeof *s->group);
    s->first = calloc(nodes + 1, sizeof *s->first);
    if (!s->node || !s->group || !s->first) {
        slots_clear(s);
        return -1;
    }
    s->n = n;
    s->nodes = nodes;
    for (size_t i = 0; i < nodes; i++) {
        s->first[i + 1] = s->first[i] + (each ? each[i] : 1);
        for (size_t k = s->first[i]; k < s->first[i + 1]; k++) {
            s->node[k] = i;
            s->group[k] = s->first[i];
        }
    }
    return 0;
}

void slots_clear(struct slots *s)
{
    free(s->node);
    free(s->group);
    free(s->first);
    memset(s, 0, sizeof *s);
}

size_t slots_of(const struct slots *s, size_t node)
{
    return s->first[node + 1] - s->first[node];
}

uint32_t slots_number(const struct slots *s, size_t slot)
{
    return (uint32_t)(slot - s->first[s->node[slot]]);
}

void slots_metrics(const struct slots *s,
                   const struct metric node[],
                   struct metric slot[])
{
    for (size_t i = 0; i < s->n; i++) {
        double part = 1 / (double)slots_of(s, s->node[i]);

        slot[i] = node[s->node[i]];
        slot[i].JL *= part;
        for (int e = 0; e < ELEMENTS; e++) {
            slot[i].X[e] *= part;
            slot[i].CM[e] *= part;
        }
    }
}
