/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/static.h"

#include <string.h>

struct state {
    size_t n, present;
    unsigned char gone[]; /* n */
};

static size_t static_bytes(size_t nodes, const double value[])
{
    (void)value;
    if (nodes > SIZE_MAX - sizeof(struct state))
        return 0;
    return sizeof(struct state) + nodes;
}

static int static_init(void *state, const struct policy_setup *setup)
{
    struct state *s = state;

    if (!policy_setup_holds(&static_kind, setup))
        return -1;
    s->n = s->present = setup->n;
    memset(s->gone, 0, s->n);
    return 0;
}

static void static_loads(const void *state, double load[])
{
    const struct state *s = state;

    for (size_t i = 0; i < s->n; i++)
        load[i] = s->gone[i] ? 0 : 100 / (double)s->present;
}

static int static_adjust(void *state,
                         const struct completion c[],
                         int over_threshold,
                         double load[])
{
    struct state *s = state;
    size_t before = s->present;

    (void)over_threshold; /* the point of this policy */
    for (size_t i = 0; i < s->n; i++) {
        if (c[i].presence == PRESENCE_GONE && !s->gone[i]) {
            s->gone[i] = 1;
            s->present--;
        }
    }
    static_loads(s, load);
    return s->present != before;
}

const struct policy_kind static_kind = {
    .name = "static",
    .help = "equal slices, never adjusted",
    .state_bytes = static_bytes,
    .init = static_init,
    .loads = static_loads,
    .adjust = static_adjust,
};
