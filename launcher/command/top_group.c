/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/top_group.h"

#include <stdlib.h>
#include <string.h>

/* All aggregates of value[], which is permuted. */
static struct top_group group_of(const char *rack, double value[], size_t n)
{
    struct top_group g = {.rack = rack, .n = n};

    for (enum aggregate how = AGGREGATE_MIN; how < AGGREGATES; how++)
        g.speed[how] = aggregate_of(how, value, n);
    return g;
}

static int by_rack(const void *a, const void *b)
{
    const struct top_node *const *x = a, *const *y = b;

    return strverscmp((*x)->rack, (*y)->rack);
}

/* Choose the nodes that count, sorted by rack.  Nodes of no known rack count
 * only if no rack is known.  Of a lost node the speed is not known any more. */
static size_t choose(const struct top_step *of, const struct top_node *node[])
{
    size_t n = 0, k = 0;
    int is_known = 0;

    for (size_t i = 0; i < of->n; i++)
        if (of->node[i].speed > 0 && !of->node[i].is_lost) {
            node[n++] = &of->node[i];
            is_known |= of->node[i].rack[0] != '\0';
        }
    for (size_t i = 0; i < n; i++)
        if (!is_known || node[i]->rack[0])
            node[k++] = node[i];
    qsort(node, k, sizeof *node, by_rack);
    return k;
}

static size_t group_racks(const struct top_node *const node[],
                          size_t n,
                          struct top_group rack[],
                          double value[])
{
    size_t racks = 0, k;

    for (size_t i = 0; i < n; i += k) {
        for (k = 0; i + k < n && strcmp(node[i + k]->rack, node[i]->rack) == 0;
             k++)
            value[k] = node[i + k]->speed;
        rack[racks++] = group_of(node[i]->rack, value, k);
    }
    return racks;
}

size_t top_groups_find(const struct top_step *of,
                       struct top_group **racks,
                       struct top_group *step)
{
    const struct top_node **node = calloc(of->n, sizeof *node);
    double *value = calloc(of->n, sizeof *value);
    struct top_group *rack = calloc(of->n, sizeof *rack);
    size_t n = 0;

    *step = (struct top_group){.rack = ""};
    if (node && value && rack) {
        n = group_racks(node, choose(of, node), rack, value);
        if (n == 1 && !rack[0].rack[0]) { /* no topology */
            *step = rack[0];
            n = 0;
        } else {
            for (size_t i = 0; i < n; i++)
                value[i] = rack[i].speed[of->aggregate];
            *step = group_of("", value, n);
        }
    }
    free(node);
    free(value);
    if (n == 0) {
        free(rack);
        rack = NULL;
    }
    *racks = rack;
    return n;
}
