/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/slice_steering.h"

#include <math.h>

/* Seconds until a node has done all that it holds; 0 if nobody knows. */
static double time_left(const struct tail_node *node)
{
    if (!(node->speed > 0))
        return 0;
    return fmax((double)node->running / node->speed - node->since, 0)
           + (double)node->waiting / node->speed;
}

size_t slice_steering_step(const struct power_rule *rule,
                           const struct tail_node node[],
                           size_t n,
                           uint64_t grain,
                           uint64_t give[],
                           struct power_node power[],
                           void *room)
{
    size_t givers = 0;

    for (size_t i = 0; i < n; i++)
        power[i] = (struct power_node){
            .progress = time_left(&node[i]),
            .limit = node[i].running + node[i].waiting,
            .floor = node[i].running, /* cannot be had back */
            .ceiling = UINT64_MAX,
        };
    (void)power_step(rule, power, n, room);
    for (size_t i = 0; i < n; i++) {
        uint64_t held = node[i].running + node[i].waiting;
        uint64_t off = held > power[i].limit ? held - power[i].limit : 0;

        give[i] = off - off % grain;
        givers += give[i] > 0;
    }
    return givers;
}
