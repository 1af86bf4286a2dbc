/* SPDX-License-Identifier: BSD-2-Clause */
/* What JPPF's vectors do not come to. */
#include "policy/autotuned.h"
#include "fenced.h"
#include "tap.h"

static void test_small_job(void)
{
    const struct policy_bundles *policy = autotuned_kind.bundles;
    const struct profile cpu = {{1}};
    const struct metric m = {.JL = 1};
    double value[POLICY_PARAMS];
    const struct policy_setup setup = {1, &m, &cpu, value};
    void *state;

    policy_defaults(&autotuned_kind, value);
    value[policy_param_find(&autotuned_kind, "minSamplesToAnalyse")] = 0;
    value[policy_param_find(&autotuned_kind, "maxGuessToStable")] = 0;
    state = calloc(1, autotuned_kind.state_bytes(1, value));
    if (!state || autotuned_kind.init(state, &setup) < 0)
        bail("init failed");
    policy->set_job(state, 0, 100, 100);
    policy->feedback(state, 0, 12, 12);
    is_int(policy->size(state, 0), 12, "the only size that is known");
    policy->set_job(state, 0, 5, 5);
    policy->feedback(state, 0, 12, 12);
    is_int(policy->size(state, 0), 5, "but not more than the job has");
    policy->set_job(state, 0, 100, 100);
    policy->feedback(state, 0, 4, 400);
    is_int(policy->size(state, 0), 12, "which is not forgotten for that");
    free(state);
}

int main(void)
{
    fence_on = 1;
    test_small_job();
    return done();
}
