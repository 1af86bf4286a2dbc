/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums are taken in index order and the power by repeated multiplication,
 * as the last bits depend on it.  A node's weight changes only with its own
 * average, so it is kept: O(n) a step, whatever the factor.
 */
#include "policy/proportional.h"
#include "policy/bundles.h"
#include "policy/java.h"
#include "policy/sample_cache.h"

#include <float.h>
#include <math.h>

#define MEAN_LEAST 0x1p-1074 /* the smallest double, 4.9e-324 */

enum { CACHE, FACTOR, SIZE, MEAN };

static const struct policy_param params[] = {
    [CACHE] = {"performanceCacheSize", 2000, INT32_MIN, INT32_MAX, 1,
               "tasks that a node's mean time is taken over", OUTSIDE_NEAREST},
    [FACTOR] = {"proportionalityFactor", 1, INT32_MIN, INT32_MAX, 1,
                "power of the mean time; 0 or less: equal bundles",
                OUTSIDE_NEAREST},
    [SIZE] = {"initialSize", 10, 1, INT32_MAX, 1,
              "tasks in a bundle until the first is back", OUTSIDE_NEAREST},
    [MEAN] = {"initialMeanTime", 1e9, MEAN_LEAST, DBL_MAX, 0,
              "of a task, in nanoseconds, until a node's first is back",
              OUTSIDE_NEAREST},
};

struct node {
    struct sample_cache cache;
    double weight; /* of the cache's mean */
};

/* What lies behind the channels; behind it the nodes' rings. */
struct own {
    int32_t capacity, factor, initial_size;
    double initial_mean;
    struct node node[];
};

static size_t proportional_bytes(size_t nodes, const double value[])
{
    size_t slots = sample_cache_slots((int32_t)value[CACHE]);

    return bundles_bytes(nodes, sizeof(struct own),
                         sizeof(struct node) + slots * sizeof(struct sample));
}

/* Past a fixed point, 0, 1 or infinity, there is nothing to multiply. */
static double weight_of(double mean, int32_t factor)
{
    double power = 1;

    for (int32_t i = 0; i < factor; i++) {
        double next = power * mean;

        if (i > 0 && !(next < power) && !(next > power))
            break;
        power = next;
    }
    return 1 / power;
}

static void proportional_join(void *state, size_t node)
{
    struct own *own = bundles_rest(state);

    bundles_join(state, node, own->initial_size);
    sample_cache_init(&own->node[node].cache, own->capacity, own->initial_mean);
    own->node[node].weight = weight_of(own->initial_mean, own->factor);
}

static int proportional_init(void *state, const struct policy_setup *setup)
{
    const double *value = setup->value;
    struct own *own;

    if (!policy_setup_holds(&proportional_kind, setup))
        return -1;
    bundles_init(state, setup->n, 1);
    own = bundles_rest(state);
    own->capacity = (int32_t)value[CACHE];
    own->factor = (int32_t)value[FACTOR];
    own->initial_size = (int32_t)value[SIZE];
    own->initial_mean = value[MEAN];
    for (size_t i = 0; i < setup->n; i++)
        proportional_join(state, i);
    return 0;
}

/* b: the present node with the smallest mean; n if there is none. */
static size_t fastest(const struct bundles *b, const struct own *own)
{
    double least = INFINITY;
    size_t best = b->n;

    for (size_t i = 0; i < b->n; i++) {
        if (b->channel[i].is_present && own->node[i].cache.mean < least) {
            least = own->node[i].cache.mean;
            best = i;
        }
    }
    return best;
}

/* The size of every node's next bundle in a job of `max` tasks. */
static void resize(struct bundles *b, const struct own *own, int32_t max)
{
    size_t best = fastest(b, own);
    double weights = 0;
    int32_t sum = 0;

    for (size_t i = 0; i < b->n; i++)
        if (b->channel[i].is_present)
            weights += own->node[i].weight;
    for (size_t i = 0; i < b->n; i++) {
        int32_t k;

        if (!b->channel[i].is_present)
            continue;
        k = java_int(own->node[i].weight / weights * max);
        k = k < 1 ? 1 : k;
        k = k >= max ? java_add(max, -1) : k;
        b->channel[i].size = k < 1 ? 1 : k;
        sum = java_add(sum, k);
    }
    if (sum < max && best < b->n) {
        int32_t rest = java_low32((int64_t)max - sum);
        int32_t size = java_add(b->channel[best].size, rest);

        b->channel[best].size = size < 1 ? 1 : size;
    }
}

static void learn_mean(void *state, size_t node, int32_t tasks, double time_ns)
{
    struct bundles *b = state;
    struct own *own = bundles_rest(state);
    struct sample *rings = (struct sample *)(void *)(own->node + b->n);
    struct sample_cache *cache = &own->node[node].cache;

    sample_cache_add(cache, rings + node, b->n, tasks, time_ns);
    own->node[node].weight = weight_of(cache->mean, own->factor);
}

static void proportional_feedback(void *state,
                                  size_t node,
                                  int32_t tasks,
                                  double time_ns)
{
    if (tasks <= 0 || !bundles_channel(state, node))
        return;
    learn_mean(state, node, tasks, time_ns);
    resize(state, bundles_rest(state), bundles_max(state, node));
}

/* What a frame does to it: the nodes of a frame have one job, so one resizing
   is as good as one each. */
static const struct policy_bundles learning = {
    .set_job = bundles_set_job,
    .feedback = learn_mean,
    .leave = bundles_leave,
};

static int proportional_adjust(void *state,
                               const struct completion c[],
                               int over_threshold,
                               double load[])
{
    int left = bundles_frame(state, &learning, c);
    struct own *own = bundles_rest(state);
    size_t best = fastest(state, own);

    if (best < ((struct bundles *)state)->n)
        resize(state, own, bundles_max(state, best));
    return bundles_publish(state, over_threshold || left, load);
}

static const struct policy_bundles bundles = {
    .set_context = bundles_set_context,
    .set_job = bundles_set_job,
    .size = bundles_size,
    .feedback = proportional_feedback,
    .set_threads = bundles_ignore_threads,
    .leave = bundles_leave,
    .join = proportional_join,
};

const struct policy_kind proportional_kind = {
    .name = "proportional",
    .help = "JPPF: bundles, or slices, in proportion to measured speed",
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .bundles = &bundles,
    .state_bytes = proportional_bytes,
    .init = proportional_init,
    .loads = bundles_loads,
    .adjust = proportional_adjust,
};
