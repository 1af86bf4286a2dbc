/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/rl2.h"
#include "policy/bundles.h"
#include "policy/java.h"
#include "policy/random.h"
#include "policy/sample_cache.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define START_MEAN 1000.0 /* nanoseconds, as in JPPF */

/* Unlike JPPF: more states than this are not kept, the slowest is forgotten
   for a new one, as their memory is set aside at the start. */
#define STATES_MOST 1024

/* States beyond maxSamples, which come of last, smaller bundles of a job. */
#define STATES_SPARE 16

enum { CACHE, VARIATION, MIN, MAX, RELATIVE, SEED, GENERATOR };

static const struct policy_param params[] = {
    [CACHE] = {"performanceCacheSize", 2000, 1, INT32_MAX, 1,
               "tasks that a node's mean time is taken over", OUTSIDE_DEFAULT},
    [VARIATION] = {"performanceVariationThreshold", 0.75, 0x1p-1074, DBL_MAX, 0,
                   "relative growth of the mean time that makes it start anew",
                   OUTSIDE_DEFAULT},
    [MIN] = {"minSamples", 10, 1, INT32_MAX, 1,
             "sizes that are tried before the best is used", OUTSIDE_DEFAULT},
    [MAX] = {"maxSamples", 1, 1, INT32_MAX, 1,
             "sizes after which none is tried; at least as many as minSamples",
             OUTSIDE_NEAREST},
    [RELATIVE] = {"maxRelativeSize", 0.5, 0x1p-1074, 1, 0,
                  "largest bundle, as a part of the frame", OUTSIDE_DEFAULT},
    [SEED] = {"seed", 1, 0, 0x1p53, 1, "of the random numbers",
              OUTSIDE_REFUSED},
    [GENERATOR] = {"generator", GENERATOR_LCG32, 0, GENERATORS - 1, 1,
                   "of random numbers: 0 evenstep's, 1 java.util.Random's",
                   OUTSIDE_REFUSED},
};

/* What is known of one size. */
struct known {
    int32_t key;  /* the bundle that was to be sent */
    int32_t size; /* the one that was: less at the end of a job */
    int64_t count;
    double mean, total; /* of the time per task */
};

struct node {
    struct sample_cache cache;
    struct rng rng;
    int32_t limit; /* L */
    uint32_t n_known;
};

/* What lies behind the channels; behind it the nodes' rings, then what they
   know, by last update. */
struct own {
    double variation, relative;
    uint64_t seed;
    enum generator generator;
    int32_t capacity, min, max;
    uint32_t places; /* for what a node knows */
    struct node node[];
};

static int32_t max_samples(const double value[])
{
    return (int32_t)(value[MAX] < value[MIN] ? value[MIN] : value[MAX]);
}

static uint32_t places_for(const double value[])
{
    int32_t max = max_samples(value);

    return (uint32_t)(max < STATES_MOST ? max : STATES_MOST) + STATES_SPARE;
}

static size_t rl2_bytes(size_t nodes, const double value[])
{
    size_t slots = sample_cache_slots((int32_t)value[CACHE]);

    return bundles_bytes(nodes, sizeof(struct own),
                         sizeof(struct node) + slots * sizeof(struct sample)
                             + places_for(value) * sizeof(struct known));
}

static struct sample *rings_of(void *state)
{
    struct bundles *b = state;
    struct own *own = bundles_rest(state);

    return (struct sample *)(void *)(own->node + b->n);
}

static struct known *states_of(void *state, size_t node)
{
    struct bundles *b = state;
    struct own *own = bundles_rest(state);
    struct sample *end = rings_of(state) + b->n * own->node[0].cache.slots;

    return (struct known *)(void *)end + node * own->places;
}

static void rl2_join(void *state, size_t node)
{
    struct own *own = bundles_rest(state);
    struct node *me = &own->node[node];

    bundles_join(state, node, 1);
    sample_cache_init(&me->cache, own->capacity, START_MEAN);
    random_init(&me->rng, own->generator, random_seed(own->seed, node));
    me->limit = 1;
    me->n_known = 0;
}

static int rl2_init(void *state, const struct policy_setup *setup)
{
    const double *value = setup->value;
    struct own *own;

    if (!policy_setup_holds(&rl2_kind, setup))
        return -1;
    bundles_init(state, setup->n, 1);
    own = bundles_rest(state);
    own->capacity = (int32_t)value[CACHE];
    own->variation = value[VARIATION];
    own->min = (int32_t)value[MIN];
    own->max = max_samples(value);
    own->relative = value[RELATIVE];
    own->seed = (uint64_t)value[SEED];
    own->generator = value[GENERATOR] > 0 ? GENERATOR_JAVA : GENERATOR_LCG32;
    own->places = places_for(value);
    for (size_t i = 0; i < setup->n; i++)
        rl2_join(state, i);
    return 0;
}

static void rl2_set_job(void *state, size_t node, int32_t tasks, int32_t left)
{
    struct own *own = bundles_rest(state);
    struct channel *channel = bundles_channel(state, node);
    struct node *me = &own->node[node];
    struct known *known = states_of(state, node);
    uint32_t kept = 0;

    if (!channel)
        return;
    bundles_set_job(state, node, tasks, left);
    me->limit = java_low32(java_round(tasks * own->relative));
    if (me->limit < 1)
        me->limit = 1;
    for (uint32_t i = 0; i < me->n_known; i++)
        if (known[i].key <= me->limit)
            known[kept++] = known[i];
    me->n_known = kept;
    if (kept == 0)
        channel->size = 1 + random_below(&me->rng, me->limit);
}

/* The place of a key, or n. */
static uint32_t find_key(const struct known known[], uint32_t n, int32_t key)
{
    uint32_t i = 0;

    while (i < n && known[i].key != key)
        i++;
    return i;
}

static void drop_state(struct known known[], uint32_t *n, uint32_t at)
{
    memmove(&known[at], &known[at + 1], (--*n - at) * sizeof known[0]);
}

static uint32_t slowest(const struct known known[], uint32_t n)
{
    uint32_t at = 0;

    for (uint32_t i = 1; i < n; i++)
        if (known[i].mean > known[at].mean)
            at = i;
    return at;
}

/* 2. The state that is updated becomes the last. */
static void note_result(const struct own *own,
                        struct node *me,
                        struct known known[],
                        int32_t key,
                        int32_t tasks,
                        double time_ns)
{
    uint32_t at = find_key(known, me->n_known, key);
    double mean = time_ns / tasks;
    struct known now = {.key = key, .size = tasks};

    if (at < me->n_known)
        now = known[at];
    else if (me->n_known == own->places)
        at = slowest(known, me->n_known);
    now.count++;
    now.total += mean;
    now.mean = now.total / (double)now.count;
    if (at < me->n_known)
        drop_state(known, &me->n_known, at);
    known[me->n_known++] = now;
}

/* 3. Is the next size to be a new one? */
static int explores(const struct own *own, struct node *me)
{
    int32_t n = (int32_t)me->n_known;

    if (n < own->min)
        return 1;
    if (n >= own->max)
        return 0;
    return random_unit(&me->rng)
           <= (double)(own->max - n) / (1.0 + (own->max - own->min));
}

/* 4. One of those with the lowest mean. */
static int32_t draw_best(struct node *me, const struct known known[])
{
    double least = known[0].mean;
    int32_t ties = 0, chosen = 0;

    for (uint32_t i = 1; i < me->n_known; i++)
        least = known[i].mean < least ? known[i].mean : least;
    for (uint32_t i = 0; i < me->n_known; i++)
        ties += !(known[i].mean > least);
    if (ties > 1)
        chosen = random_below(&me->rng, ties);
    for (uint32_t i = 0;; i++)
        if (!(known[i].mean > least) && chosen-- == 0)
            return known[i].size;
}

static void rl2_feedback(void *state,
                         size_t node,
                         int32_t tasks,
                         double time_ns)
{
    struct own *own = bundles_rest(state);
    struct channel *channel = bundles_channel(state, node);
    struct node *me = &own->node[node];
    struct known *known = states_of(state, node);

    if (tasks <= 0 || !channel)
        return;
    /* 1. */
    sample_cache_add(&me->cache, rings_of(state) + node,
                     ((struct bundles *)state)->n, tasks, time_ns);
    if ((me->cache.previous - me->cache.mean) / me->cache.previous
        < -own->variation)
        me->n_known = 0;
    note_result(own, me, known, channel->size, tasks, time_ns);
    /* The order matters: the first may draw. */
    if (explores(own, me) && (int32_t)me->n_known < me->limit) {
        do
            channel->size = 1 + random_below(&me->rng, me->limit);
        while (find_key(known, me->n_known, channel->size) < me->n_known);
    } else {
        channel->size = draw_best(me, known);
    }
}

static const struct policy_bundles bundles = {
    .set_context = bundles_set_context,
    .set_job = rl2_set_job,
    .size = bundles_size,
    .feedback = rl2_feedback,
    .set_threads = bundles_ignore_threads,
    .leave = bundles_leave,
    .join = rl2_join,
};

static int rl2_adjust(void *state,
                      const struct completion c[],
                      int over_threshold,
                      double load[])
{
    return bundles_adjust(state, &bundles, c, over_threshold, load);
}

const struct policy_kind rl2_kind = {
    .name = "rl2",
    .help = "JPPF: bundles of sizes tried at random, then of the best",
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .bundles = &bundles,
    .state_bytes = rl2_bytes,
    .init = rl2_init,
    .loads = bundles_loads,
    .adjust = rl2_adjust,
};
