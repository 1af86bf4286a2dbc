/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/manual.h"
#include "policy/bundles.h"

static const struct policy_param params[] = {
    {"size", 1, 1, INT32_MAX, 1, "tasks in a bundle", OUTSIDE_NEAREST},
};

/* What lies behind the channels. */
struct own {
    int32_t size;
};

static size_t manual_bytes(size_t nodes, const double value[])
{
    (void)value;
    return bundles_bytes(nodes, sizeof(struct own), 0);
}

static int manual_init(void *state, const struct policy_setup *setup)
{
    struct own *own;

    if (!policy_setup_holds(&manual_kind, setup))
        return -1;
    bundles_init(state, setup->n, (int32_t)setup->value[0]);
    own = bundles_rest(state);
    own->size = (int32_t)setup->value[0];
    return 0;
}

static void manual_join(void *state, size_t node)
{
    const struct own *own = bundles_rest(state);

    bundles_join(state, node, own->size);
}

static const struct policy_bundles bundles = {
    .set_context = bundles_set_context,
    .set_job = bundles_set_job,
    .size = bundles_size,
    .feedback = bundles_ignore_feedback,
    .set_threads = bundles_ignore_threads,
    .leave = bundles_leave,
    .join = manual_join,
};

static int manual_adjust(void *state,
                         const struct completion c[],
                         int over_threshold,
                         double load[])
{
    return bundles_adjust(state, &bundles, c, over_threshold, load);
}

const struct policy_kind manual_kind = {
    .name = "manual",
    .help = "JPPF: bundles of one size",
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .bundles = &bundles,
    .state_bytes = manual_bytes,
    .init = manual_init,
    .loads = bundles_loads,
    .adjust = manual_adjust,
};
