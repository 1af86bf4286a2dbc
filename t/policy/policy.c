/* SPDX-License-Identifier: BSD-2-Clause */
#include "fenced.h"
#include "policy/kinds.h"
#include "tap.h"

#define N 3

static const struct profile cpu = {{[ELEMENT_C] = 1}};
static const double measured[N][ELEMENTS] = {{4}, {2}, {2}};

static void test_params(void)
{
    static const struct policy_param whole = {
        "k", 2, 1, 5, 1, "a number", OUTSIDE_REFUSED};

    ok(!policy_param_accepts(&whole, 0), "below the range is refused");
    ok(!policy_param_accepts(&whole, 6), "above the range is refused");
    ok(!policy_param_accepts(&whole, 2.5), "a fraction is refused");
    ok(!policy_param_accepts(&whole, (double)NAN), "NaN is refused");
    ok(policy_param_accepts(&whole, 1) && policy_param_accepts(&whole, 5),
       "the bounds are allowed");
    for (size_t i = 0; kinds_at(i); i++) {
        const struct policy_kind *kind = kinds_at(i);
        double value[POLICY_PARAMS];
        int pass = 1;

        policy_defaults(kind, value);
        for (size_t k = 0; k < kind->n_params; k++)
            pass &= policy_param_accepts(&kind->params[k], value[k])
                    && policy_param_find(kind, kind->params[k].key) == k
                    && kind->params[k].help[0] != '\0';
        pass &= policy_param_find(kind, "nosuch") == kind->n_params;
        ok(pass, "%s: defaults are allowed, keys unique", kind->name);
    }
}

/* What JPPF makes of a value out of range. */
static void test_settle(void)
{
    static const struct {
        double value;
        double nearest, other; /* OUTSIDE_NEAREST, OUTSIDE_DEFAULT */
        int is_good;
    } rows[] = {
        {1, 1, 1, 1},      {5, 5, 5, 1},     {3, 3, 3, 1},
        {0, 1, 2, 0},      {6, 5, 2, 0},     {3.7, 3, 3, 0},
        {5.9, 5, 5, 0},    {0.9, 1, 2, 0},   {(double)NAN, 1, 2, 0},
        {-1e300, 1, 2, 0}, {1e300, 5, 2, 0},
    };
    struct policy_param p = {"k", 2, 1, 5, 1, "a number", OUTSIDE_NEAREST};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double v = rows[i].value;

        p.outside = OUTSIDE_NEAREST;
        is_near(policy_param_settle(&p, v), rows[i].nearest, 0,
                "to the nearest bound, without its fraction");
        p.outside = OUTSIDE_DEFAULT;
        is_near(policy_param_settle(&p, v), rows[i].other, 0,
                "or to the default");
        p.outside = OUTSIDE_REFUSED;
        ok(rows[i].is_good ? policy_param_settle(&p, v) == v
                           : isnan(policy_param_settle(&p, v)),
           "or refused: %g", v);
    }
    p.integer = 0;
    p.outside = OUTSIDE_NEAREST;
    is_near(policy_param_settle(&p, 3.5), 3.5, 0, "a fraction where it may be");
}

/* --- what every kind must refuse and must keep to ------------------------ */

/* A policy with all that it may touch, each fenced or to the brim. */
struct fixture {
    const struct policy_kind *kind;
    struct policy_setup setup;
    struct metric *metric;
    double *value, *load, *again;
    struct completion *c;
    void *state;
};

static void set_up(struct fixture *f, const struct policy_kind *kind)
{
    f->kind = kind;
    f->metric = calloc(N, sizeof *f->metric);
    f->value = calloc(kind->n_params + 1, sizeof *f->value);
    f->load = calloc(N, sizeof *f->load);
    f->again = calloc(N, sizeof *f->again);
    f->c = fenced_copy((struct completion[N]){{4, 1, 0, 0, 0},
                                              {2, 1, 0, 0, 0},
                                              {2, 3, 0, 0, 0}},
                       N * sizeof *f->c);
    if (!f->metric || !f->value || !f->load || !f->again)
        bail("no memory");
    f->value++; /* up to the fence */
    f->setup = (struct policy_setup){N, f->metric, &cpu, f->value};
    policy_defaults(kind, f->value);
    (void)metric_rank(measured, &cpu, f->metric, N);
    f->state = calloc(1, kind->state_bytes(N, f->value));
    if (!f->state)
        bail("no memory");
}

static void tear_down(struct fixture *f)
{
    free(f->state);
    free(f->metric);
    free(f->value - 1);
    free(f->load);
    free(f->again);
    free(f->c);
}

static void test_nodes(struct fixture *f)
{
    const struct policy_kind *kind = f->kind;
    double was = f->metric[1].JL;

    ok(kind->state_bytes(SIZE_MAX, f->value) == 0
           && kind->state_bytes(65536, f->value) >= 65536,
       "%s: too many nodes, but not 65,536", kind->name);
    f->metric[1].JL = -1;
    is_int(kind->init(f->state, &f->setup), -1, "a negative load is refused");
    f->metric[1].JL = (double)NAN;
    is_int(kind->init(f->state, &f->setup), -1, "a NaN load is refused");
    f->metric[1].JL = was;
    f->setup.n = 0;
    is_int(kind->init(f->state, &f->setup), -1, "no nodes are refused");
    f->setup.n = N;
}

static void test_values(struct fixture *f)
{
    const struct policy_kind *kind = f->kind;

    for (size_t k = 0; k < kind->n_params; k++) {
        const struct policy_param *param = &kind->params[k];
        double good = f->value[k];

        f->value[k] = param->max * 2 + 1;
        is_int(kind->init(f->state, &f->setup), -1, param->key);
        for (int top = 0; top <= 1; top++) {
            f->value[k] = top ? param->max : param->min;
            ok(policy_setup_holds(kind, &f->setup), "%s: %g is taken",
               param->key, f->value[k]);
        }
        f->value[k] = good;
    }
}

static void test_loads(struct fixture *f)
{
    const struct policy_kind *kind = f->kind;
    double *load = f->load;

    is_int(kind->init(f->state, &f->setup), 0, "a good setup is taken");
    kind->loads(f->state, load);
    is_near(load[0] + load[1] + load[2], 100, 1e-9, "loads are percent");
    is_int(kind->adjust(f->state, f->c, 0, f->again), 0,
           "within T: nothing changes");
    ok(memcmp(load, f->again, N * sizeof *load) == 0,
       "within T: the same loads");
    (void)kind->adjust(f->state, f->c, 1, load);
    is_near(load[0] + load[1] + load[2], 100, 1e-9, "they still add up");
}

static void test_leaving(struct fixture *f)
{
    const struct policy_kind *kind = f->kind;
    double *load = f->load;

    f->c[0].presence = PRESENCE_GONE;
    is_int(kind->adjust(f->state, f->c, 0, load), 1, "leaving changes loads");
    ok(load[0] == 0 && load[1] > 0 && load[2] > 0, "the one that left has 0");
    is_near(load[1] + load[2], 100, 1e-9, "the others have all");
    f->c[0].presence = PRESENCE_PRESENT;
    (void)kind->adjust(f->state, f->c, 1, load);
    f->c[0].presence = PRESENCE_GONE;
    is_int(kind->adjust(f->state, f->c, 0, f->again), 0, "it leaves only once");
    ok(load[0] == 0, "it has left for good");
    f->c[1].presence = f->c[2].presence = PRESENCE_GONE;
    is_int(kind->adjust(f->state, f->c, 1, load), 1, "all leave");
    ok(load[0] + load[1] + load[2] == 0, "nobody is left with load");
    is_int(kind->adjust(f->state, f->c, 1, load), 0, "nothing more happens");
    if (kind->metrics)
        kind->metrics(f->state, f->metric);
}

static void test_kind(const struct policy_kind *kind)
{
    struct fixture f;

    set_up(&f, kind);
    test_nodes(&f);
    test_values(&f);
    test_loads(&f);
    test_leaving(&f);
    tear_down(&f);
}

static void test_static(void)
{
    const struct policy_kind *kind = kinds_find("static");
    struct metric m[N];
    struct policy_setup setup = {N, m, &cpu, NULL};
    struct completion c[N] = {
        {3, 1, 0, 0, 0}, {3, 2, 0, 0, 0}, {3, 9, 0, 0, 0}};
    double load[N];
    void *state = calloc(1, kind->state_bytes(N, NULL));

    if (!state)
        bail("no memory");
    (void)metric_rank(measured, &cpu, m, N);
    (void)kind->init(state, &setup);
    is_int(kind->adjust(state, c, 1, load), 0, "static never adjusts");
    ok(load[0] == load[1] && load[1] == load[2], "static: equal loads");
    c[1].presence = PRESENCE_GONE;
    (void)kind->adjust(state, c, 1, load);
    is_near(load[2], 50, 0, "static: equal loads among who is left");
    free(state);
}

int main(void)
{
    fence_on = 1;
    test_params();
    test_settle();
    for (size_t i = 0; kinds_at(i); i++)
        test_kind(kinds_at(i));
    test_static();
    return done();
}
