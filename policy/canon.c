/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/canon.h"
#include "policy/select.h"

#include <math.h>
#include <string.h>

struct state {
    size_t n;
    double step, threshold;
    size_t worst;
    struct profile profile;
    enum element adjusted[ELEMENTS]; /* what 11. adjusts, by influence */
    size_t n_adjusted;
    struct metric node[]; /* n, then n times, then n marks */
};

enum { STEP, THRESHOLD, WORST, ELEMENTS_ADJUSTED };

static const struct policy_param params[] = {
    [STEP] = {"step", CANON_STEP, 0.001, 100, 0,
              "percent points taken from a last node's utilization at a time",
              OUTSIDE_REFUSED},
    [THRESHOLD] = {"threshold", 0, 0, 1000, 0,
                   "percent of the mean time that last and first may differ by",
                   OUTSIDE_REFUSED},
    [WORST] = {"worst", 1, 1, 1000000, 1,
               "number of last nodes that are taken from", OUTSIDE_REFUSED},
    [ELEMENTS_ADJUSTED] = {"elements", 1, 1, ELEMENTS, 1,
                           "number of elements adjusted, by influence",
                           OUTSIDE_REFUSED},
};

static size_t canon_bytes(size_t nodes, const double value[])
{
    size_t each = sizeof(struct metric) + sizeof(double) + 1;

    (void)value;
    if (nodes > (SIZE_MAX - sizeof(struct state)) / each)
        return 0;
    return sizeof(struct state) + nodes * each;
}

static double *times_of(struct state *s)
{
    return (double *)(void *)(s->node + s->n);
}

static unsigned char *marks_of(struct state *s)
{
    return (unsigned char *)(times_of(s) + s->n);
}

static int is_had(const struct policy_setup *setup, enum element j)
{
    size_t i = 0;

    while (i < setup->n && !(setup->metric[i].X[j] > 0))
        i++;
    return i < setup->n;
}

/* 11. the elements that anyone has, by influence; returns how many. */
static size_t rank_elements(const struct policy_setup *setup,
                            enum element ranked[])
{
    const double *influence = setup->profile->influence;
    size_t n = 0;

    for (enum element j = 0; j < ELEMENTS; j++) {
        size_t at = n;

        if (!is_had(setup, j))
            continue;
        for (; at > 0 && influence[ranked[at - 1]] < influence[j]; at--)
            ranked[at] = ranked[at - 1];
        ranked[at] = j;
        n++;
    }
    return n;
}

static int canon_init(void *state, const struct policy_setup *setup)
{
    struct state *s = state;
    enum element ranked[ELEMENTS];
    size_t had, asked;

    if (!policy_setup_holds(&canon_kind, setup))
        return -1;
    had = rank_elements(setup, ranked);
    if (had == 0)
        return -1;
    asked = (size_t)setup->value[ELEMENTS_ADJUSTED];
    s->n = setup->n;
    s->step = setup->value[STEP];
    s->threshold = setup->value[THRESHOLD];
    s->worst = (size_t)setup->value[WORST];
    s->profile = *setup->profile;
    s->n_adjusted = asked < had ? asked : had;
    memcpy(s->adjusted, ranked, s->n_adjusted * sizeof ranked[0]);
    memcpy(s->node, setup->metric, s->n * sizeof s->node[0]);
    return 0;
}

static void canon_loads(const void *state, double load[])
{
    const struct state *s = state;

    for (size_t i = 0; i < s->n; i++)
        load[i] = s->node[i].JL;
}

static void canon_metrics(const void *state, struct metric m[])
{
    const struct state *s = state;

    memcpy(m, s->node, s->n * sizeof m[0]);
}

/* e. */
static int forget_those_gone(struct state *s, const struct completion c[])
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

/* The times of the nodes that had a slice; returns how many. */
static size_t collect_times(struct state *s, const struct completion c[])
{
    double *time = times_of(s);
    size_t m = 0;

    for (size_t i = 0; i < s->n; i++)
        if (c[i].presence == PRESENCE_PRESENT && c[i].units > 0)
            time[m++] = c[i].seconds;
    return m;
}

/* 10. Is the difference of m times over our own threshold, too? */
static int differs(const struct state *s, const double time[], size_t m)
{
    double first = time[0], last = time[0], sum = 0;

    for (size_t i = 0; i < m; i++) {
        first = fmin(first, time[i]);
        last = fmax(last, time[i]);
        sum += time[i];
    }
    return s->threshold <= 0
           || last - first > s->threshold / 100 * sum / (double)m;
}

/* b. Mark the last of the m nodes that had a slice; time is permuted. */
static void mark_late(struct state *s, const struct completion c[], size_t m)
{
    unsigned char *late = marks_of(s);
    size_t most = m > 1 ? m - 1 : 1;
    size_t k = s->worst < most ? s->worst : most, ties = k;
    double least = select_smallest(times_of(s), m, m - k);

    for (size_t i = 0; i < s->n; i++) {
        late[i] = c[i].presence == PRESENCE_PRESENT && c[i].units > 0
                  && c[i].seconds > least;
        ties -= late[i];
    }
    for (size_t i = 0; i < s->n && ties > 0; i++) {
        if (c[i].presence == PRESENCE_PRESENT && c[i].units > 0
            && !(c[i].seconds < least) && !late[i]) {
            late[i] = 1;
            ties--;
        }
    }
}

int canon_move(struct metric m[],
               const struct completion c[],
               size_t n,
               enum element j,
               const unsigned char late[],
               double points)
{
    double taken = 0, others = 0;
    size_t n_others = 0;

    for (size_t i = 0; i < n; i++) {
        if (late[i]) {
            taken += fmin(points, m[i].CU[j]); /* a. */
        } else if (c[i].presence == PRESENCE_PRESENT) {
            others += m[i].CU[j];
            n_others++;
        }
    }
    if (n_others == 0 || taken <= 0)
        return 0; /* d. */
    for (size_t i = 0; i < n; i++) {
        if (late[i])
            m[i].CU[j] -= fmin(points, m[i].CU[j]);
        else if (c[i].presence == PRESENCE_GONE)
            continue;
        else if (others > 0)
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
    int changed = forget_those_gone(s, c);
    size_t m = collect_times(s, c);

    /* 10. and 11. */
    if (over_threshold && m > 0 && differs(s, times_of(s), m)) {
        mark_late(s, c, m);
        for (size_t e = 0; e < s->n_adjusted; e++)
            changed |= canon_move(s->node, c, s->n, s->adjusted[e], marks_of(s),
                                  s->step);
    }
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
    .metrics = canon_metrics,
    .adjust = canon_adjust,
};
