/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/autotuned.h"
#include "policy/bundles.h"
#include "policy/cooling.h"
#include "policy/java.h"
#include "policy/random.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Unlike JPPF: more sizes than this are not kept, the slowest is forgotten for
   a new one, as their memory is set aside at the start. */
#define SIZES_MOST 1024

#define BUCKETS_AT_FIRST 16 /* of java.util.HashMap: its order breaks ties */

enum {
    SIZE,
    ANALYSE,
    GUESSES,
    DEVIATION,
    CONVERGENCE,
    MAX_DEVIATION,
    DECREASE,
    SEED,
    GENERATOR,
    DOCUMENTED
};

static const struct policy_param params[] = {
    [SIZE] = {"size", 5, 1, INT32_MAX, 1,
              "tasks in a bundle until the first analysis", OUTSIDE_NEAREST},
    [ANALYSE] = {"minSamplesToAnalyse", 500, INT32_MIN, INT32_MAX, 1,
                 "tasks of one size beyond which the best is looked for",
                 OUTSIDE_NEAREST},
    [GUESSES] = {"maxGuessToStable", 10, INT32_MIN, INT32_MAX, 1,
                 "guesses of known sizes after which the best is kept",
                 OUTSIDE_NEAREST},
    [DEVIATION] = {"sizeRatioDeviation", 1.5, -(double)FLT_MAX, (double)FLT_MAX,
                   0, "largest size to be guessed, relative to the best",
                   OUTSIDE_NEAREST},
    [CONVERGENCE] = {"minSamplesToCheckConvergence", 300, INT32_MIN, INT32_MAX,
                     1, "documented: tasks of a look at whether it has changed",
                     OUTSIDE_NEAREST},
    [MAX_DEVIATION] =
        {"maxDeviation", 0.2, -DBL_MAX, DBL_MAX, 0,
         "documented: relative change of the mean that starts anew",
         OUTSIDE_NEAREST},
    [DECREASE] = {"decreaseRatio", 0.2, -DBL_MAX, DBL_MAX, 0,
                  "documented: how fast guesses come nearer to the best",
                  OUTSIDE_NEAREST},
    [SEED] = {"seed", 1, 0, 0x1p53, 1, "of the random numbers",
              OUTSIDE_REFUSED},
    [GENERATOR] = {"generator", GENERATOR_LCG32, 0, GENERATORS - 1, 1,
                   "of random numbers: 0 evenstep's, 1 java.util.Random's",
                   OUTSIDE_REFUSED},
    [DOCUMENTED] = {"documented", 0, 0, 1, 1,
                    "0: as JPPF's code does; 1: as its manual says",
                    OUTSIDE_REFUSED},
};

/* What is known of one size. */
struct known {
    double mean; /* time of a task */
    int64_t tasks;
    int32_t size;
};

struct node {
    struct rng rng;
    uint32_t n_known;
    uint32_t buckets; /* a power of two */
    /* As documented: */
    int32_t guesses; /* so far */
    int is_stable;   /* it stays at the best size */
    double mean;     /* of a task then */
    double time;     /* since the last look */
    int64_t tasks;   /* likewise */
};

/* What lies behind the channels; behind it what the nodes know, SIZES_MOST
   each, in the order of insertion. */
struct own {
    uint64_t seed;
    enum generator generator;
    float deviation;
    int32_t size, analyse, guesses;
    int is_documented;
    int32_t convergence;
    double max_deviation, decrease;
    struct node node[];
};

static size_t autotuned_bytes(size_t nodes, const double value[])
{
    (void)value;
    return bundles_bytes(nodes, sizeof(struct own),
                         sizeof(struct node)
                             + SIZES_MOST * sizeof(struct known));
}

static struct known *sizes_of(void *state, size_t node)
{
    struct bundles *b = state;
    struct own *own = bundles_rest(state);

    return (struct known *)(void *)(own->node + b->n) + node * SIZES_MOST;
}

static void autotuned_join(void *state, size_t node)
{
    struct own *own = bundles_rest(state);
    struct node *me = &own->node[node];

    bundles_join(state, node, own->size);
    random_init(&me->rng, own->generator, random_seed(own->seed, node));
    me->n_known = 0;
    me->buckets = BUCKETS_AT_FIRST;
    me->guesses = me->is_stable = 0;
}

static int autotuned_init(void *state, const struct policy_setup *setup)
{
    const double *value = setup->value;
    struct own *own;

    if (!policy_setup_holds(&autotuned_kind, setup))
        return -1;
    bundles_init(state, setup->n, 1);
    own = bundles_rest(state);
    own->size = (int32_t)value[SIZE];
    own->analyse = (int32_t)value[ANALYSE];
    own->guesses = (int32_t)value[GUESSES];
    own->deviation = (float)value[DEVIATION];
    own->is_documented = value[DOCUMENTED] > 0;
    own->convergence = (int32_t)value[CONVERGENCE];
    own->max_deviation = value[MAX_DEVIATION];
    own->decrease = value[DECREASE];
    own->seed = (uint64_t)value[SEED];
    own->generator = value[GENERATOR] > 0 ? GENERATOR_JAVA : GENERATOR_LCG32;
    for (size_t i = 0; i < setup->n; i++)
        autotuned_join(state, i);
    return 0;
}

/* --- the map from sizes --------------------------------------------------- */

/* The place of a size, or n. */
static uint32_t find_size(const struct known known[], uint32_t n, int32_t size)
{
    uint32_t i = 0;

    while (i < n && known[i].size != size)
        i++;
    return i;
}

static void forget_slowest(struct node *me, struct known known[])
{
    uint32_t at = 0;

    for (uint32_t i = 1; i < me->n_known; i++)
        if (!(known[i].mean <= known[at].mean))
            at = i;
    me->n_known--;
    memmove(&known[at], &known[at + 1], (me->n_known - at) * sizeof known[0]);
}

static struct known *size_entry(struct node *me,
                                struct known known[],
                                int32_t size)
{
    uint32_t at = find_size(known, me->n_known, size);

    if (at < me->n_known)
        return &known[at];
    if (me->n_known == SIZES_MOST)
        forget_slowest(me, known);
    known[me->n_known++] = (struct known){.size = size};
    if (me->n_known > me->buckets / 4 * 3)
        me->buckets *= 2;
    return &known[me->n_known - 1];
}

static uint32_t bucket(const struct node *me, int32_t size)
{
    uint32_t key = (uint32_t)size;

    return (key ^ (key >> 16)) & (me->buckets - 1);
}

/* The size with the smallest mean, of several the first in the map's order; 0
   if there is none. */
static int32_t fastest_size(const struct node *me, const struct known known[])
{
    double least = INFINITY;
    int32_t best = 0;

    for (uint32_t i = 0; i < me->n_known; i++) {
        int ties = !(known[i].mean > least) && !(known[i].mean < least);

        if (known[i].mean < least
            || (ties && known[i].mean < INFINITY
                && bucket(me, known[i].size) < bucket(me, best))) {
            least = known[i].mean;
            best = known[i].size;
        }
    }
    return best;
}

/* --- */

/* How far from the best a guess may be, in single precision. */
static int32_t range_around(const struct own *own, int32_t best)
{
    float range = (float)best * (own->deviation - 1.0F);
    int32_t whole = java_round_single(range);

    return whole < 1 ? 1 : whole;
}

/* A size near the best; it is not cut to the job. */
static int32_t guess(struct node *me, int32_t range, int32_t best)
{
    int32_t away = 1 + random_below(&me->rng, range);

    if (away < best && random_boolean(&me->rng))
        away = -away;
    return java_add(best, away);
}

/* A size that is not known, within the range of the best; 0 if all that were
 * guessed are. */
static int32_t guess_new(const struct own *own,
                         struct node *me,
                         const struct known known[],
                         int32_t range,
                         int32_t best)
{
    for (int32_t i = 0; i < own->guesses; i++) {
        int32_t size = guess(me, range, best);

        if (find_size(known, me->n_known, size) == me->n_known)
            return size;
    }
    return 0;
}

/* It is the best for now; of the others nothing is kept. */
static int32_t keep_best(struct node *me, struct known known[], int32_t best)
{
    uint32_t at;

    best = best < 1 ? 1 : best;
    at = find_size(known, me->n_known, best);
    if (at < me->n_known) {
        known[0] = known[at];
        me->n_known = 1;
    }
    return best;
}

/* As documented the range cools down, and when it has the best size stays. */
static int32_t analyse_cooling(const struct own *own,
                               struct node *me,
                               struct known known[],
                               int32_t best)
{
    int32_t range = range_around(own, best), size = 0;

    if (me->guesses < cooling_guesses(range, own->decrease))
        size =
            guess_new(own, me, known,
                      cooling_range(range, own->decrease, me->guesses), best);
    if (size != 0) {
        me->guesses++;
        return size;
    }
    best = keep_best(me, known, best);
    me->is_stable = 1;
    me->mean = known[0].mean;
    me->time = 0;
    me->tasks = 0;
    return best;
}

/* The size of the next bundle. */
static int32_t analyse(const struct own *own,
                       struct node *me,
                       struct known known[],
                       int32_t max)
{
    int32_t best = fastest_size(me, known), size;

    if (max > 0 && best > max)
        best = max;
    if (own->is_documented)
        return analyse_cooling(own, me, known, best);
    size = guess_new(own, me, known, range_around(own, best), best);
    return size != 0 ? size : keep_best(me, known, best);
}

/* A node that stays at the best size: it begins anew, from there, once its tasks
 * take another time. */
static void check_convergence(const struct own *own,
                              struct node *me,
                              int32_t tasks,
                              double time_ns)
{
    double off;

    me->time += time_ns;
    me->tasks += tasks;
    if (me->tasks <= 0 || me->tasks < own->convergence)
        return;
    off = fabs(me->time / (double)me->tasks - me->mean);
    me->time = 0;
    me->tasks = 0;
    if (off > own->max_deviation * me->mean) {
        me->n_known = 0;
        me->guesses = me->is_stable = 0;
    }
}

static void autotuned_feedback(void *state,
                               size_t node,
                               int32_t tasks,
                               double time_ns)
{
    struct own *own = bundles_rest(state);
    struct channel *channel = bundles_channel(state, node);
    struct known *known = sizes_of(state, node);
    struct known *e;
    int64_t now;

    if (!channel)
        return;
    if (own->node[node].is_stable) {
        check_convergence(own, &own->node[node], tasks, time_ns);
        return;
    }
    e = size_entry(&own->node[node], known, tasks);
    now = e->tasks + tasks;
    e->mean = (time_ns + (double)e->tasks * e->mean) / (double)now;
    e->tasks = now;
    if (now > own->analyse)
        channel->size =
            analyse(own, &own->node[node], known, bundles_max(state, node));
}

static const struct policy_bundles bundles = {
    .set_context = bundles_set_context,
    .set_job = bundles_set_job,
    .size = bundles_size,
    .feedback = autotuned_feedback,
    .set_threads = bundles_ignore_threads,
    .leave = bundles_leave,
    .join = autotuned_join,
};

static int autotuned_adjust(void *state,
                            const struct completion c[],
                            int over_threshold,
                            double load[])
{
    return bundles_adjust(state, &bundles, c, over_threshold, load);
}

const struct policy_kind autotuned_kind = {
    .name = "autotuned",
    .help = "JPPF: bundles of a size that wanders to the best",
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .bundles = &bundles,
    .state_bytes = autotuned_bytes,
    .init = autotuned_init,
    .loads = bundles_loads,
    .adjust = autotuned_adjust,
};
