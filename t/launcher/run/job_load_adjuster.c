/* SPDX-License-Identifier: BSD-2-Clause */
/* From the completion times of a frame to the loads of the next one, by any
 * policy, also when nodes are lost and come back. */
#include "launcher/run/job_load_adjuster.h"
#include "policy/kinds.h"

#include "fault.h"
#include "tap.h"

#define NODES 3

static const struct profile cpu = {{[ELEMENT_C] = 1}};

/* Nodes as a probe has ranked them, by one element. */
static void rank_nodes(struct metric m[NODES], const double jl[NODES])
{
    for (int i = 0; i < NODES; i++)
        m[i] = (struct metric){
            .JL = jl[i], .X[ELEMENT_C] = jl[i], .CU[ELEMENT_C] = 100};
}

static int init(struct job_load_adjuster *a,
                const char *policy,
                const double jl[NODES],
                struct es_error *err)
{
    static double value[POLICY_PARAMS];
    const struct policy_kind *kind = kinds_find(policy);
    struct metric metric[NODES];
    int rc;

    if (!kind)
        bail("no policy %s", policy);
    policy_defaults(kind, value);
    rank_nodes(metric, jl);
    *err = (struct es_error){0};
    rc = job_load_adjuster_init(a, kind, value, metric, &cpu, NODES, err);
    memset(metric, 0xff, sizeof metric); /* it has its own */
    return rc;
}

static struct job_load_adjuster adjuster_of(const char *policy,
                                            const double jl[NODES])
{
    struct job_load_adjuster a;
    struct es_error err;

    if (init(&a, policy, jl, &err) < 0)
        bail("%s", err.what);
    return a;
}

/* Are the loads in these proportions, to a percent?  Units are whole. */
static int loads_are(const struct job_load_adjuster *a,
                     const double want[NODES])
{
    double loads = 0, sum = 0;

    for (int i = 0; i < NODES; i++) {
        loads += a->load[i];
        sum += want[i];
    }
    for (int i = 0; i < NODES; i++)
        if (!(fabs(a->load[i] / loads - want[i] / sum) < 0.01))
            return 0;
    return 1;
}

/* Frames of 1000 units on nodes of these speeds, until the loads hardly move;
 * a node of speed 0 is lost.  1 if any step has said that they changed. */
static int run_frames(struct job_load_adjuster *a, const double speed[NODES])
{
    struct completion part[NODES];
    struct determination t = {.completion = part, .n = NODES, .over = 1};
    int changed = 0;

    for (int frame = 0; frame < 100; frame++) {
        double loads = a->load[0] + a->load[1] + a->load[2];

        for (int i = 0; i < NODES; i++) {
            double units = speed[i] > 0 ? 1000 * a->load[i] / loads : 0;

            t.completion[i] = (struct completion){
                .units = (uint64_t)(units + 0.5),
                .seconds = units / (speed[i] > 0 ? speed[i] : 1),
                .presence = speed[i] > 0 ? PRESENCE_PRESENT : PRESENCE_GONE};
        }
        changed |= job_load_adjuster_step(a, &t);
    }
    return changed;
}

static void test_size_policy(void)
{
    static const double alike[] = {10, 10, 10}, speeds[] = {80, 40, 20};
    struct job_load_adjuster a = adjuster_of("even", speeds);

    ok(loads_are(&a, speeds), "the first loads are as the nodes were measured");
    job_load_adjuster_clear(&a);
    a = adjuster_of("even", alike);
    ok(loads_are(&a, alike), "nodes that measure alike have equal loads");
    is_int(run_frames(&a, speeds), 1, "frames change the loads");
    ok(a.load[0] > 1.5 * a.load[1] && a.load[1] > 1.5 * a.load[2],
       "so that they come near the speeds");
    job_load_adjuster_clear(&a);
    ok(!a.state && !a.metric && !a.load, "it can be cleared");
    job_load_adjuster_clear(&a);
    a = adjuster_of("static", speeds);
    ok(loads_are(&a, alike) && run_frames(&a, speeds) == 0
           && loads_are(&a, alike),
       "static has equal parts, for good");
    job_load_adjuster_clear(&a);
}

static void test_bundle_policy(void)
{
    static const double alike[] = {10, 10, 10}, speeds[] = {80, 40, 20};
    struct job_load_adjuster a = adjuster_of("guided", alike);

    is_int(run_frames(&a, speeds), 0,
           "a policy of bundles does not hear of frames");
    ok(loads_are(&a, alike), "nor does it change loads");
    job_load_adjuster_clear(&a);
}

static void test_threads(void)
{
    static const double alike[] = {10, 10, 10};
    struct job_load_adjuster a = adjuster_of("nodethreads", alike);
    const struct policy_bundles *b = a.kind->bundles;
    int32_t unknown;

    b->set_job(a.state, 1, 1000, 1000);
    unknown = b->size(a.state, 1);
    job_load_adjuster_threads(&a, 1, 0);
    is_int(b->size(a.state, 1), unknown, "0 threads are none that is known");
    job_load_adjuster_threads(&a, 1, 7);
    ok(b->size(a.state, 1) != b->size(a.state, 0)
           && b->size(a.state, 1) % 7 == 0,
       "a policy of bundles hears of a node's threads");
    job_load_adjuster_clear(&a);
    a = adjuster_of("even", alike);
    job_load_adjuster_threads(&a, 1, 7);
    ok(loads_are(&a, alike), "one of sizes goes by what was measured");
    job_load_adjuster_clear(&a);
}

/* --- nodes that come back ------------------------------------------------- */

/* Node 2 is lost, and joins with this measurement; the others' is theirs. */
static struct job_load_adjuster rejoined(const char *policy,
                                         const double speed[NODES],
                                         double measured)
{
    double left[NODES] = {speed[0], speed[1], 0};
    double now[NODES] = {speed[0], speed[1], measured};
    struct job_load_adjuster a = adjuster_of(policy, speed);
    struct metric metric[NODES];
    struct es_error err = {0};

    (void)run_frames(&a, left);
    if (!a.kind->bundles && a.load[2] > 0)
        bail("the node is not lost");
    rank_nodes(metric, now);
    if (job_load_adjuster_join(&a, 2, metric, &err) < 0)
        bail("%s", err.what);
    return a;
}

static void test_join(void)
{
    static const double speeds[] = {80, 40, 20}, doubled[] = {80, 40, 40};
    struct job_load_adjuster a = rejoined("even", speeds, 20);

    ok(loads_are(&a, speeds),
       "a node that is back has its load by its measurement");
    job_load_adjuster_clear(&a);
    a = rejoined("even", speeds, 40);
    ok(loads_are(&a, doubled), "by that of now, not that of before");
    (void)run_frames(&a, doubled);
    ok(loads_are(&a, doubled), "which fits, and stays");
    job_load_adjuster_clear(&a);
}

/* What was learnt of the others holds: a measurement cannot undo it. */
static void test_join_keeps(void)
{
    static const double alike[] = {10, 10, 10}, speeds[] = {80, 20, 20};
    double left[NODES] = {80, 20, 0}, ratio;
    struct job_load_adjuster a = adjuster_of("even", alike);
    struct metric metric[NODES];
    struct es_error err = {0};

    (void)run_frames(&a, speeds);
    (void)run_frames(&a, left);
    ratio = a.load[0] / a.load[1];
    rank_nodes(metric, alike);
    is_int(job_load_adjuster_join(&a, 2, metric, &err), 0, "a node comes back");
    is_near(a.load[0] / a.load[1], ratio, ratio * 1e-9,
            "the others' loads keep the proportion that was learnt");
    is_near(a.load[2] / (a.load[0] + a.load[1]), 0.5, 1e-9,
            "and its own is to theirs as its measurement is");
    job_load_adjuster_clear(&a);
}

static void test_join_alone(void)
{
    static const double speeds[] = {80, 40, 20};
    static const double none[] = {0, 0, 0};
    struct job_load_adjuster a = adjuster_of("even", speeds);
    struct metric metric[NODES];
    struct es_error err = {0};

    (void)run_frames(&a, none);
    rank_nodes(metric, none);
    ok(job_load_adjuster_join(&a, 1, metric, &err) == -1 && err.kind == ES_ENV,
       "the only node is one that can do nothing: ES_ENV");
    rank_nodes(metric, speeds);
    ok(job_load_adjuster_join(&a, 1, metric, &err) == 0 && a.load[0] == 0
           && a.load[1] > 0 && a.load[2] == 0,
       "the first node to come back gets all");
    ok(job_load_adjuster_join(&a, 2, metric, &err) == 0 && a.load[0] == 0
           && fabs(a.load[1] / a.load[2] - 2) < 1e-9,
       "a node that is still lost does not count for the next");
    job_load_adjuster_clear(&a);
}

static void test_join_bundles(void)
{
    static const double speeds[] = {80, 40, 20};
    struct job_load_adjuster a = adjuster_of("guided", speeds);
    const struct policy_bundles *b = a.kind->bundles;
    struct metric metric[NODES];
    struct es_error err = {0};

    rank_nodes(metric, speeds);
    b->leave(a.state, 2);
    b->set_job(a.state, 2, 1000, 1000);
    is_int(b->size(a.state, 2), 0, "a node that has left gets no bundle");
    is_int(job_load_adjuster_join(&a, 2, metric, &err), 0, "it comes back");
    b->set_job(a.state, 2, 1000, 1000);
    ok(b->size(a.state, 2) > 0, "and gets some again");
    job_load_adjuster_clear(&a);
}

/* --- failures ------------------------------------------------------------- */

static void test_failures(void)
{
    static const double none[] = {0, 0, 0}, alike[] = {10, 10, 10};
    struct job_load_adjuster a;
    struct es_error err;
    int wrong = 0, rc;

    ok(init(&a, "even", none, &err) == -1 && err.kind == ES_USAGE && !a.state,
       "nodes that all measure nothing: ES_USAGE");
    for (fault_at = 0;; wrong++) {
        long at = fault_at;

        rc = init(&a, "even", alike, &err);
        fault_at = -1;
        if (rc == 0)
            break;
        if (err.kind != ES_ENV || a.state || a.metric || a.load)
            bail("allocation %ld: not ES_ENV, or something is left", at);
        fault_at = at + 1;
    }
    ok(wrong == 3, "without memory ES_ENV, and nothing is left");
    job_load_adjuster_clear(&a);
}

int main(void)
{
    test_size_policy();
    test_bundle_policy();
    test_threads();
    test_join();
    test_join_keeps();
    test_join_alone();
    test_join_bundles();
    test_failures();
    return done();
}
