/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/nodethreads.h"
#include "policy/bundles.h"
#include "policy/java.h"

static const struct policy_param params[] = {
    {"multiplicator", 1, 1, INT32_MAX, 1, "tasks in a bundle for each thread",
     OUTSIDE_NEAREST},
};

/* What lies behind the channels. */
struct own {
    int32_t multiplicator;
};

static size_t nodethreads_bytes(size_t nodes, const double value[])
{
    (void)value;
    return bundles_bytes(nodes, sizeof(struct own), 0);
}

static int nodethreads_init(void *state, const struct policy_setup *setup)
{
    struct own *own;

    if (!policy_setup_holds(&nodethreads_kind, setup))
        return -1;
    bundles_init(state, setup->n, 1);
    own = bundles_rest(state);
    own->multiplicator = (int32_t)setup->value[0];
    return 0;
}

static void nodethreads_join(void *state, size_t node)
{
    bundles_join(state, node, 1);
}

static void nodethreads_set_threads(void *state,
                                    size_t node,
                                    int32_t threads,
                                    int32_t processors)
{
    const struct own *own = bundles_rest(state);
    struct channel *channel = bundles_channel(state, node);
    int32_t known = threads > 0 ? threads : processors > 0 ? processors : 1;

    if (channel)
        channel->size = java_multiply(known, own->multiplicator);
}

static const struct policy_bundles bundles = {
    .set_context = bundles_set_context,
    .set_job = bundles_set_job,
    .size = bundles_size,
    .feedback = bundles_ignore_feedback,
    .set_threads = nodethreads_set_threads,
    .leave = bundles_leave,
    .join = nodethreads_join,
};

static int nodethreads_adjust(void *state,
                              const struct completion c[],
                              int over_threshold,
                              double load[])
{
    return bundles_adjust(state, &bundles, c, over_threshold, load);
}

const struct policy_kind nodethreads_kind = {
    .name = "nodethreads",
    .help = "JPPF: a bundle has a task for each thread of the node",
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .bundles = &bundles,
    .state_bytes = nodethreads_bytes,
    .init = nodethreads_init,
    .loads = bundles_loads,
    .adjust = nodethreads_adjust,
};
