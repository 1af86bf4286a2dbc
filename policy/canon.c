/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/canon.h"

#include <math.h>
#include <string.h>

struct state {
    size_t n;
    double step;
    struct profile profile;
    enum element top; /* the element that 11. adjusts */
    struct metric node[];
};

static const struct policy_param params[] = {
    {"step", CANON_STEP, 0.001, 100, 0,
     "percent points taken from the last node's utilization at a time",
     OUTSIDE_REFUSED},
};

static size_t canon_bytes(size_t nodes, const double value[])
{
    (void)value;
    if (nodes > (SIZE_MAX - sizeof(struct state)) / sizeof(struct metric))
        return 0;
    return sizeof(struct state) + nodes * sizeof(struct metric);
}

/* 11. the core element with the highest influence factor that anyone has. */
static enum element top_element(const struct policy_setup *setup)
{
    enum element top = ELEMENTS;

    for (enum element j = 0; j < ELEMENTS; j++) {
        int had = 0;

        for (size_t i = 0; i < setup->n && !had; i++)
            had = setup->metric[i].X[j] > 0;
        if (had
            && (top == ELEMENTS
                || setup->profile->influence[j]
                       > setup->profile->influence[top]))
            top = j;
    }
    return top;
}

static int canon_init(void *state, const struct policy_setup *setup)
{
    struct state *s = state;

    if (!policy_setup_holds(&canon_kind, setup)
        || top_element(setup) == ELEMENTS)
        return -1;
    s->n = setup->n;
    s->step = setup->value[0];
    s->profile = *setup->profile;
    s->top = top_element(setup);
    memcpy(s->node, setup->metric, s->n * sizeof s->node[0]);
    return 0;
}

static void canon_loads(const void *state, double load[])
{
    const struct state *s = state;

    for (size_t i = 0; i < s->n; i++)
        load[i] = s->node[i].JL;
}

/* e. */
static int let_go(struct state *s, const struct completion c[])
{
    int left = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (c[i].presence == PRESENCE_GONE && s->node[i].JL > 0)
            left = 1;
        if (c[i].presence == PRESENCE_GONE)
            memset(s->node[i].CU, 0, sizeof s->node[i].CU);
    }
    return left;
}

/* b. The node with the last response; n if none had a slice. */
static size_t last_node(const struct completion c[], size_t n)
{
    size_t last = n;

    for (size_t i = 0; i < n; i++) {
        if (c[i].presence == PRESENCE_GONE || c[i].units == 0)
            continue;
        if (last == n || c[i].seconds > c[last].seconds)
            last = i;
    }
    return last;
}

int canon_move(struct metric m[],
               const struct completion c[],
               size_t n,
               enum element j,
               size_t last,
               double points)
{
    double taken = fmin(points, m[last].CU[j]); /* a. */
    double others = 0;
    size_t n_others = 0;

    for (size_t i = 0; i < n; i++) {
        if (i == last || c[i].presence == PRESENCE_GONE)
            continue;
        others += m[i].CU[j];
        n_others++;
    }
    if (n_others == 0 || taken <= 0)
        return 0; /* d. */
    m[last].CU[j] -= taken;
    for (size_t i = 0; i < n; i++) {
        if (i == last || c[i].presence == PRESENCE_GONE)
            continue;
        if (others > 0)
            m[i].CU[j] += taken * (m[i].CU[j] / others);
        else
            m[i].CU[j] += taken / (double)n_others; /* c. */
    }
    return 1;
}

static int canon_adjust(void *state,
                        const struct completion c[],
                        int over_threshold,
                        double load[])
{
    struct state *s = state;
    int changed = let_go(s, c);
    size_t last = last_node(c, s->n);

    /* 10. and 11. */
    if (over_threshold && last < s->n)
        changed |= canon_move(s->node, c, s->n, s->top, last, s->step);
    /* 12. */
    if (changed && metric_load(s->node, &s->profile, s->n) < 0)
        for (size_t i = 0; i < s->n; i++)
            s->node[i].JL = 0; /* nobody is left that can work */
    canon_loads(s, load);
    return changed;
}

const struct policy_kind canon_kind = {
    .name = "canon",
    .help = "a fixed amount from the last node to the others",
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .state_bytes = canon_bytes,
    .init = canon_init,
    .loads = canon_loads,
    .adjust = canon_adjust,
};
