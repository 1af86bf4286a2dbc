/* SPDX-License-Identifier: BSD-2-Clause */
/* autotuned as JPPF documents it: it settles, and begins anew when the node has
 * changed; as JPPF's code has it, it does neither. */
#include "policy/autotuned.h"
#include "policy/bundles.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>

static const struct profile cpu = {{[ELEMENT_C] = 1}};

static void *start(int documented)
{
    struct metric m[1] = {{.JL = 1}};
    double value[POLICY_PARAMS];
    struct policy_setup setup = {1, m, &cpu, value};
    void *state;

    policy_defaults(&autotuned_kind, value);
    value[policy_param_find(&autotuned_kind, "documented")] = documented;
    value[policy_param_find(&autotuned_kind, "minSamplesToAnalyse")] = 20;
    value[policy_param_find(&autotuned_kind, "maxGuessToStable")] = 50;
    state = malloc(autotuned_kind.state_bytes(1, value));
    if (!state || autotuned_kind.init(state, &setup) < 0)
        bail("init failed");
    return state;
}

/* A task's time: least at the best size. */
static double time_of(int32_t size, double best)
{
    return 1e6 * (1 + fabs(log((double)size / best)));
}

/* Bundles until the size has stayed for 2,000 tasks, at most so many tasks; the
 * size, or 0. */
static int32_t run(void *state, double best, double slower, int64_t tasks)
{
    const struct policy_bundles *b = autotuned_kind.bundles;
    int64_t same = 0;
    int32_t size, last = 0;

    for (int64_t n = 0; n < tasks; n += size) {
        b->set_job(state, 0, 100000, 100000);
        size = b->size(state, 0);
        same = size == last ? same + size : 0;
        last = size;
        if (same >= 2000)
            return size;
        b->feedback(state, 0, size, slower * time_of(size, best) * size);
    }
    return 0;
}

int main(void)
{
    const struct policy_bundles *b = autotuned_kind.bundles;
    void *code = start(0), *manual = start(1);
    int32_t size, was;

    is_int(run(code, 12, 1, 200000), 0,
           "as the code has it, it never stays at a size");
    was = run(manual, 12, 1, 200000);
    ok(was > 0, "as documented it does: at %d", was);
    ok(time_of(was, 12) < time_of(5, 12), "which is better than the first");
    b->feedback(manual, 0, was, 1.1 * time_of(was, 12) * was);
    for (int i = 0; i < 100; i++)
        b->feedback(manual, 0, was, 1.1 * time_of(was, 12) * was);
    is_int(b->size(manual, 0), was, "a tenth slower is no change");
    for (int i = 0; i < 80 && b->size(manual, 0) == was; i++)
        b->feedback(manual, 0, was, 1.5 * time_of(was, 60) * was);
    ok(b->size(manual, 0) != was, "half as slow again is one: it looks again");
    size = run(manual, 60, 1.5, 400000);
    ok(size > was, "and settles elsewhere, at %d", size);
    b->leave(manual, 0);
    b->join(manual, 0);
    is_int(b->size(manual, 0), 5, "a node that is back begins as new");
    ok(run(manual, 12, 1, 200000) > 0, "and settles again");
    free(code);
    free(manual);
    return done();
}
