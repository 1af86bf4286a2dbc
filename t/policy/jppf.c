/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Vectors made by running JPPF itself: after every step every node's
 * bundle must be what JPPF's was, and the moving averages the same double.
 * jppf_vectors.json is a third of them; EVENSTEP_VECTORS names another file.
 */
#include "policy/bundles.h"
#include "policy/java.h"
#include "policy/kinds.h"
#include "policy/random.h"
#include "policy/sample_cache.h"
#include "tap.h"

#include <jansson.h>
#include <time.h>

#define CHANNELS_MOST 64

static const struct profile cpu = {{[ELEMENT_C] = 1}};

/* A case that is being replayed. */
struct replay {
    const struct policy_kind *kind;
    void *state;
    size_t n; /* channels so far */
    struct sample_cache cache[CHANNELS_MOST];
    struct sample *ring[CHANNELS_MOST]; /* NULL: the kind has no cache */
};

/* --- a case's beginning --------------------------------------------------- */

/* As JPPF reads it: what is no number leaves the default. */
static void take_param(const struct policy_kind *kind,
                       double value[],
                       const char *key,
                       const char *text)
{
    size_t k = policy_param_find(kind, key);
    char *end;
    double v = strtod(text, &end);

    while (*end == ' ')
        end++;
    if (k == kind->n_params)
        bail("%s has no parameter %s", kind->name, key);
    if (end != text && !*end)
        value[k] = policy_param_settle(&kind->params[k], v);
}

static void take_seed(const struct policy_kind *kind,
                      double value[],
                      const json_t *random)
{
    size_t seed = policy_param_find(kind, "seed");
    const char *generator = json_string_value(json_object_get(random, "kind"));
    const char *text =
        json_string_value(json_object_get(random, "seed_of_channel_i"));

    if (!text)
        return;
    value[seed] = strtod(text, NULL); /* "17 + 7919*i" */
    if (strcmp(generator, "java.util.Random") == 0)
        value[policy_param_find(kind, "generator")] = GENERATOR_JAVA;
}

static void *start_state(const struct policy_kind *kind, const double value[])
{
    struct metric m[CHANNELS_MOST] = {{.JL = 1}};
    struct policy_setup setup = {CHANNELS_MOST, m, &cpu, value};
    void *state = malloc(kind->state_bytes(CHANNELS_MOST, value));

    if (!state || kind->init(state, &setup) < 0)
        bail("%s: init failed", kind->name);
    return state;
}

/* The cache that the kind has inside, beside it, to look at its mean. */
static void start_cache(struct replay *r, const double value[])
{
    size_t size = policy_param_find(r->kind, "performanceCacheSize");
    size_t mean = policy_param_find(r->kind, "initialMeanTime");

    if (size == r->kind->n_params)
        return;
    for (size_t i = 0; i < CHANNELS_MOST; i++) {
        int32_t capacity = (int32_t)value[size];

        sample_cache_init(&r->cache[i], capacity,
                          mean < r->kind->n_params ? value[mean] : 1000);
        r->ring[i] = calloc(sample_cache_slots(capacity), sizeof *r->ring[i]);
        if (!r->ring[i])
            bail("no memory");
    }
}

static void start(struct replay *r, const json_t *test)
{
    const char *name = json_string_value(json_object_get(test, "algorithm"));
    json_t *params = json_object_get(test, "params");
    double value[POLICY_PARAMS];

    memset(r, 0, sizeof *r);
    r->kind = kinds_find(name);
    if (!r->kind || !r->kind->bundles)
        bail("no bundle policy %s", name);
    policy_defaults(r->kind, value);
    for (void *at = json_object_iter(params); at;
         at = json_object_iter_next(params, at))
        take_param(r->kind, value, json_object_iter_key(at),
                   json_string_value(json_object_iter_value(at)));
    take_seed(r->kind, value, json_object_get(test, "random"));
    r->state = start_state(r->kind, value);
    r->n = (size_t)json_integer_value(json_object_get(test, "channels"));
    for (size_t i = r->n; i < CHANNELS_MOST; i++)
        r->kind->bundles->leave(r->state, i);
    r->kind->bundles->set_context(
        r->state, (int32_t)json_integer_value(
                      json_object_get(test, "context_max_bundle_size")));
    start_cache(r, value);
}

static void stop(struct replay *r)
{
    for (size_t i = 0; i < CHANNELS_MOST; i++)
        free(r->ring[i]);
    free(r->state);
}

/* --- a step --------------------------------------------------------------- */

static int32_t int_of(const json_t *step, const char *key)
{
    return (int32_t)json_integer_value(json_object_get(step, key));
}

static void feed(struct replay *r, const json_t *step, size_t node, int four)
{
    int32_t tasks = int_of(step, "size");
    double time = json_number_value(json_object_get(step, "time_ns"));

    if (four)
        time = bundles_time(
            tasks, json_number_value(json_object_get(step, "accumulated_ns")),
            json_number_value(json_object_get(step, "overhead_ns")),
            int_of(step, "threads"));
    r->kind->bundles->feedback(r->state, node, tasks, time);
    if (r->ring[node] && tasks > 0)
        sample_cache_add(&r->cache[node], r->ring[node], 1, tasks, time);
}

static void set_threads(struct replay *r, const json_t *step, size_t node)
{
    int is_peer = json_is_true(json_object_get(step, "peer"));

    r->kind->bundles->set_threads(
        r->state, node, int_of(step, is_peer ? "peer_threads" : "threads"),
        int_of(step, "available_processors"));
}

static void apply(struct replay *r, const json_t *step)
{
    const char *op = json_string_value(json_object_get(step, "op"));
    size_t node = (size_t)json_integer_value(json_object_get(step, "channel"));

    if (strcmp(op, "set_job") == 0)
        r->kind->bundles->set_job(r->state, node, int_of(step, "job_tasks"),
                                  int_of(step, "job_tasks"));
    else if (strcmp(op, "feedback") == 0)
        feed(r, step, node, 0);
    else if (strcmp(op, "feedback4") == 0)
        feed(r, step, node, 1);
    else if (strcmp(op, "set_threads") == 0)
        set_threads(r, step, node);
    else if (strcmp(op, "add_channel") == 0)
        r->kind->bundles->join(r->state, r->n++);
    else if (strcmp(op, "remove_channel") == 0)
        r->kind->bundles->leave(r->state, node);
    else
        bail("unknown step %s", op);
}

/* Are the sizes those of the vector?  null = has left. */
static int sizes_are(const struct replay *r, const json_t *want)
{
    int pass = json_array_size(want) == r->n;

    for (size_t i = 0; i < r->n && pass; i++) {
        const json_t *size = json_array_get(want, i);

        pass = r->kind->bundles->size(r->state, i)
               == (json_is_null(size) ? 0 : json_integer_value(size));
    }
    return pass;
}

/* Is the moving average, if the step has one, the very same double? */
static int mean_is(const struct replay *r, const json_t *step)
{
    const json_t *mean = json_object_get(step, "mean_ns");
    double want = json_number_value(mean);

    return !mean
           || memcmp(&r->cache[int_of(step, "channel")].mean, &want,
                     sizeof want)
                  == 0;
}

static void test_case(const json_t *test)
{
    const char *id = json_string_value(json_object_get(test, "id"));
    const json_t *steps = json_object_get(test, "steps");
    size_t n = json_array_size(steps), i = 0;
    struct replay r;
    int sizes, means = 1;

    start(&r, test);
    sizes = sizes_are(&r, json_object_get(test, "initial"));
    for (; i < n && sizes && means; i++) {
        const json_t *step = json_array_get(steps, i);

        apply(&r, step);
        sizes = sizes_are(&r, json_object_get(step, "expect"));
        means = mean_is(&r, step);
    }
    ok(sizes && means && n > 0, "%s, %zu steps", id, n);
    if (!sizes || !means)
        diag("step %zu: the %s differ", i, sizes ? "means" : "sizes");
    stop(&r);
}

static void test_vectors(void)
{
    const char *root = getenv("EVENSTEP_SRC");
    const char *other = getenv("EVENSTEP_VECTORS");
    char path[4096];
    json_error_t error;
    json_t *all;
    const json_t *cases;

    snprintf(path, sizeof path, "%s/t/policy/jppf_vectors.json",
             root ? root : ".");
    all = json_load_file(other ? other : path, 0, &error);
    if (!all)
        bail("%s: %s", other ? other : path, error.text);
    cases = json_object_get(all, "cases");
    ok(json_array_size(cases) > 0, "there are vectors");
    for (size_t i = 0; i < json_array_size(cases); i++)
        test_case(json_array_get(cases, i));
    json_decref(all);
}

/* --- what the vectors are made with --------------------------------------- */

/* What `new Random(42)` gives in OpenJDK 17, each from the start. */
static void test_random(void)
{
    static const struct {
        int32_t bound, want[5];
    } below[] = {
        {100, {30, 63, 48, 84, 70}},
        {(1 << 30) + 1, /* every other one is refused */
         {117392763, 102948884, 662969970, 595021505, 196118093}},
    };
    struct rng r;

    for (size_t k = 0; k < sizeof below / sizeof below[0]; k++) {
        int pass = 1;

        random_init(&r, GENERATOR_JAVA, 42);
        for (int i = 0; i < 5; i++)
            pass &= random_below(&r, below[k].bound) == below[k].want[i];
        ok(pass, "java.util.Random: nextInt(%d)", (int)below[k].bound);
    }
    random_init(&r, GENERATOR_JAVA, 42);
    is_int(random_below(&r, 16), 11, "java.util.Random: a power of two");
    is_int(random_boolean(&r), 0, "java.util.Random: nextBoolean()");
    is_near(random_unit(&r), 0.6832234717598454, 0,
            "java.util.Random: nextDouble()");
    random_init(&r, GENERATOR_LCG32, 1);
    is_int(random_below(&r, 100), 23, "the default generator");
}

static void test_four_arguments(void)
{
    is_near(bundles_time(10, 1000, 50, 1), 1050, 0, "one thread: the sum");
    is_near(bundles_time(10, 1000, 50, 4), 2 * 100 + 100 * 0.5 + 50, 0,
            "four threads: two rounds and a half");
    is_near(bundles_time(3, 300, 50, 4), 150, 0, "fewer tasks than threads");
    is_near(bundles_time(8, 800, 0, 4), 200, 0, "whole rounds");
    is_near(bundles_time(8, 800, 0, 0), 800, 0, "no threads count as one");
}

/* A cache that is full of bundles before it is full of tasks. */
static void test_full_ring(void)
{
    enum { CAPACITY = 2 * SAMPLES_MOST };
    struct sample *ring = calloc(sample_cache_slots(CAPACITY), sizeof *ring);
    struct sample_cache c;

    if (!ring)
        bail("no memory");
    sample_cache_init(&c, CAPACITY, 0);
    for (int i = 0; i < SAMPLES_MOST + 10; i++)
        sample_cache_add(&c, ring, 1, 1, 1024);
    is_int(c.count, SAMPLES_MOST + 1, "the oldest leaves a full ring");
    is_near(c.mean, 1024.0 * SAMPLES_MOST / (SAMPLES_MOST + 1), 0,
            "and takes its time along");
    free(ring);
}

int main(void)
{
    test_random();
    test_four_arguments();
    test_full_ring();
    test_vectors();
    return done();
}
