/* SPDX-License-Identifier: BSD-2-Clause */
/* What the bundle policies have in common, with one that notes what it hears. */
#include "policy/bundles.h"
#include "fenced.h"
#include "tap.h"

#define N 5

static struct {
    int32_t frame[N], left[N], tasks[N];
    double time_ns[N];
    unsigned jobs, results, leaves;
} heard;

static void note_job(void *state, size_t node, int32_t tasks, int32_t left)
{
    bundles_set_job(state, node, tasks, left);
    heard.frame[node] = tasks;
    heard.left[node] = left;
    heard.jobs++;
}

static void note_result(void *state, size_t node, int32_t tasks, double time_ns)
{
    bundles_ignore_feedback(state, node, tasks, time_ns);
    heard.tasks[node] = tasks;
    heard.time_ns[node] = time_ns;
    heard.results++;
}

static void note_leave(void *state, size_t node)
{
    bundles_leave(state, node);
    heard.leaves++;
}

static const struct policy_bundles noting = {
    .set_job = note_job, .feedback = note_result, .leave = note_leave};

static struct bundles *start(int32_t size)
{
    struct bundles *b = calloc(1, bundles_bytes(N, 0, 0));

    if (!b)
        bail("no memory");
    bundles_init(b, N, size);
    memset(&heard, 0, sizeof heard);
    return b;
}

static void test_frame(void)
{
    struct completion *c =
        fenced_copy((struct completion[N]){{30, 2, 0, 0, 0},
                                           {0, 2, 0, 0, 0},
                                           {10, 0, 0, 0, 0},
                                           {10, (double)INFINITY, 0, 0, 0},
                                           {50, 3, PRESENCE_GONE, 0, 0}},
                    N * sizeof *c);
    struct bundles *b = start(7);

    is_int(bundles_frame(b, &noting, c), 1, "a node has left");
    ok(heard.results == 1 && heard.jobs == 1 && heard.leaves == 1,
       "only who did something in a time that is one, and is there, is told");
    ok(heard.frame[0] == 100 && heard.left[0] == 100 && heard.tasks[0] == 30
           && fabs(heard.time_ns[0] - 2e9) < 1,
       "of the frame, its part of it, and the time");
    is_int(bundles_frame(b, &noting, c), 0, "it leaves only once");
    ok(heard.results == 2 && heard.leaves == 1, "the others are told again");
    c[0].units = UINT64_C(1) << 40;
    (void)bundles_frame(b, &noting, c);
    ok(heard.frame[0] == (1 << 30) + 1 && heard.tasks[0] == 1 << 30,
       "a large frame is told in larger tasks");
    free(b);
    free(c);
}

static int loads_are(const struct bundles *b, const double want[N])
{
    double *load = calloc(N, sizeof *load);
    int same = load != NULL;

    bundles_loads(b, load);
    for (size_t i = 0; i < N; i++)
        same &= fabs(load[i] - want[i]) < 1e-12;
    free(load);
    return same;
}

static void test_publish(void)
{
    struct bundles *b = start(7);
    double load[N];

    ok(loads_are(b, (double[N]){20, 20, 20, 20, 20}), "equal at first");
    b->channel[0].size = 14;
    b->channel[1].size = -3;
    b->channel[2].size = 0;
    is_int(bundles_publish(b, 0, load), 0, "not asked for: nothing changes");
    ok(load[0] >= 20 && load[0] <= 20, "the loads are as before");
    is_int(bundles_publish(b, 1, load), 1, "they follow the sizes");
    ok(loads_are(b, (double[N]){50, 0, 0, 25, 25}),
       "a size that is none has no load");
    is_int(bundles_publish(b, 1, load), 0, "once");
    bundles_leave(b, 3);
    is_int(bundles_publish(b, 1, load), 1, "a node leaves");
    b->channel[0].size = b->channel[4].size = -1;
    is_int(bundles_publish(b, 1, load), 1, "no size is one");
    ok(loads_are(b, (double[N]){25, 25, 25, 0, 25}),
       "then who is there has equal parts");
    free(b);
}

static void test_max(void)
{
    struct bundles *b = start(1);

    is_int(bundles_max(b, 0), BUNDLES_MAX_SIZE, "no job, no context");
    bundles_set_context(b, 40);
    is_int(bundles_max(b, 0), 40, "the context's");
    bundles_set_job(b, 0, 0, 0);
    ok(bundles_max(b, 0) == 0 && bundles_max(b, 1) == 40,
       "a job's, if it is 0");
    bundles_leave(b, 0);
    ok(!bundles_channel(b, 0) && bundles_channel(b, 1) == &b->channel[1]
           && bundles_size(b, 0) == 0,
       "a node that has left has no channel");
    bundles_join(b, 0, 9);
    ok(bundles_max(b, 0) == 40 && bundles_size(b, 0) == 9
           && bundles_channel(b, 0) == &b->channel[0],
       "one that is back has no job");
    free(b);
}

/* As many nodes as there can be bytes for, and one more. */
static void test_bytes(void)
{
    size_t each = sizeof(struct channel) + 8;
    size_t most = (SIZE_MAX - sizeof(struct bundles) - 24) / each;

    ok(bundles_bytes(most, 24, 8) == sizeof(struct bundles) + 24 + most * each,
       "as many nodes as can be");
    is_int((intmax_t)bundles_bytes(most + 1, 24, 8), 0, "and one more");
    is_int((intmax_t)bundles_bytes(2, 24, 8),
           (intmax_t)(sizeof(struct bundles) + 24 + 2 * each), "two");
}

int main(void)
{
    fence_on = 1;
    test_frame();
    test_publish();
    test_max();
    test_bytes();
    return done();
}
