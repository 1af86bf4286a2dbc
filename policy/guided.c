/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/guided.h"
#include "policy/bundles.h"

#define DIVISOR_MAX 1000

enum { DIVISOR, LEAST };

static const struct policy_param params[] = {
    [DIVISOR] = {"divisor", 2, 1, DIVISOR_MAX, 1,
                 "a bundle is what is left / (divisor x nodes)",
                 OUTSIDE_REFUSED},
    [LEAST] = {"least", 1, 1, INT32_MAX, 1, "smallest bundle, tasks",
               OUTSIDE_REFUSED},
};

/* What lies behind the channels. */
struct own {
    int64_t divisor, present; /* present: nodes */
    int32_t least;
    int32_t left; /* tasks that are yet to be sent */
};

static size_t guided_bytes(size_t nodes, const double value[])
{
    (void)value;
    return bundles_bytes(nodes, sizeof(struct own), 0);
}

static int guided_init(void *state, const struct policy_setup *setup)
{
    struct own *own;

    if (!policy_setup_holds(&guided_kind, setup))
        return -1;
    bundles_init(state, setup->n, 1);
    own = bundles_rest(state);
    *own = (struct own){.divisor = (int64_t)setup->value[DIVISOR],
                        .present = (int64_t)setup->n,
                        .least = (int32_t)setup->value[LEAST]};
    return 0;
}

static void guided_set_context(void *state, int32_t tasks)
{
    struct own *own = bundles_rest(state);

    bundles_set_context(state, tasks);
    own->left = tasks;
}

static void guided_set_job(void *state,
                           size_t node,
                           int32_t tasks,
                           int32_t left)
{
    struct own *own = bundles_rest(state);

    bundles_set_job(state, node, tasks, left);
    own->left = left;
}

static int32_t guided_size(const void *state, size_t node)
{
    const struct bundles *b = state;
    const struct own *own = (const void *)(b->channel + b->n);
    int64_t parts = own->divisor * own->present, size;

    if (!b->channel[node].is_present)
        return 0;
    size = (own->left + parts - 1) / parts;
    return size > own->least ? (int32_t)size : own->least;
}

static void guided_leave(void *state, size_t node)
{
    struct own *own = bundles_rest(state);

    own->present -= bundles_channel(state, node) != NULL;
    bundles_leave(state, node);
}

static void guided_join(void *state, size_t node)
{
    struct own *own = bundles_rest(state);

    own->present += bundles_channel(state, node) == NULL;
    bundles_join(state, node, 1);
}

static const struct policy_bundles bundles = {
    .set_context = guided_set_context,
    .set_job = guided_set_job,
    .size = guided_size,
    .feedback = bundles_ignore_feedback,
    .set_threads = bundles_ignore_threads,
    .leave = guided_leave,
    .join = guided_join,
};

static int guided_adjust(void *state,
                         const struct completion c[],
                         int over_threshold,
                         double load[])
{
    return bundles_adjust(state, &bundles, c, over_threshold, load);
}

const struct policy_kind guided_kind = {
    .name = "guided",
    .help = "bundles of a part of what is left: large at first, then smaller",
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .bundles = &bundles,
    .state_bytes = guided_bytes,
    .init = guided_init,
    .loads = bundles_loads,
    .adjust = guided_adjust,
};
