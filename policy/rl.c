/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/rl.h"
#include "policy/bundles.h"
#include "policy/java.h"
#include "policy/sample_cache.h"

#include <float.h>

#define START_MEAN 1000.0 /* nanoseconds, as in JPPF */

enum { CACHE, VARIATION, RANGE };

static const struct policy_param params[] = {
    [CACHE] = {"performanceCacheSize", 2000, INT32_MIN, INT32_MAX, 1,
               "tasks that a node's mean time is taken over", OUTSIDE_NEAREST},
    [VARIATION] = {"performanceVariationThreshold", 0.001, -DBL_MAX, DBL_MAX, 0,
                   "relative change of the mean time that is acted upon",
                   OUTSIDE_NEAREST},
    [RANGE] = {"maxActionRange", 50, INT32_MIN, INT32_MAX, 1,
               "most tasks that a bundle grows or shrinks by", OUTSIDE_NEAREST},
};

struct node {
    struct sample_cache cache;
    int32_t action; /* what the bundle has changed by */
};

/* What lies behind the channels; behind it the nodes' rings. */
struct own {
    double variation;
    int32_t capacity, range;
    struct node node[];
};

static size_t rl_bytes(size_t nodes, const double value[])
{
    size_t slots = sample_cache_slots((int32_t)value[CACHE]);

    return bundles_bytes(nodes, sizeof(struct own),
                         sizeof(struct node) + slots * sizeof(struct sample));
}

static void rl_join(void *state, size_t node)
{
    struct own *own = bundles_rest(state);

    bundles_join(state, node, 1);
    sample_cache_init(&own->node[node].cache, own->capacity, START_MEAN);
    own->node[node].action = own->range;
}

static int rl_init(void *state, const struct policy_setup *setup)
{
    struct own *own;

    if (!policy_setup_holds(&rl_kind, setup))
        return -1;
    bundles_init(state, setup->n, 1);
    own = bundles_rest(state);
    own->capacity = (int32_t)setup->value[CACHE];
    own->variation = setup->value[VARIATION];
    own->range = (int32_t)setup->value[RANGE];
    for (size_t i = 0; i < setup->n; i++)
        rl_join(state, i);
    return 0;
}

/* What the bundle is to change by, after the mean has changed. */
static int32_t next_action(const struct own *own, const struct node *node)
{
    double faster = node->cache.previous - node->cache.mean;
    double threshold = own->variation * node->cache.previous;
    int32_t action = node->action;

    if (action == 0)
        action = -java_sign(faster);
    if (faster < -threshold || faster > threshold)
        action = java_multiply(java_sign(action),
                               java_low32(java_round(faster / threshold)));
    else
        action = 0;
    if (action > own->range)
        return own->range;
    if (action < java_low32(-(int64_t)own->range))
        return java_low32(-(int64_t)own->range);
    return action;
}

static void rl_feedback(void *state, size_t node, int32_t tasks, double time_ns)
{
    struct bundles *b = state;
    struct own *own = bundles_rest(state);
    struct sample *rings = (struct sample *)(void *)(own->node + b->n);
    struct channel *channel = bundles_channel(state, node);
    struct node *me = &own->node[node];
    int32_t max = bundles_max(state, node);

    if (tasks <= 0 || !channel)
        return;
    sample_cache_add(&me->cache, rings + node, b->n, tasks, time_ns);
    me->action = next_action(own, me);
    channel->size = java_add(channel->size, me->action);
    if (channel->size > max)
        channel->size = max;
    if (channel->size <= 0)
        channel->size = 1;
}

static const struct policy_bundles bundles = {
    .set_context = bundles_set_context,
    .set_job = bundles_set_job,
    .size = bundles_size,
    .feedback = rl_feedback,
    .set_threads = bundles_ignore_threads,
    .leave = bundles_leave,
    .join = rl_join,
};

static int rl_adjust(void *state,
                     const struct completion c[],
                     int over_threshold,
                     double load[])
{
    return bundles_adjust(state, &bundles, c, over_threshold, load);
}

const struct policy_kind rl_kind = {
    .name = "rl",
    .help = "JPPF: bundles that grow or shrink by what the last change did; "
            "deprecated, gone in JPPF 6.0",
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .bundles = &bundles,
    .state_bytes = rl_bytes,
    .init = rl_init,
    .loads = bundles_loads,
    .adjust = rl_adjust,
};
