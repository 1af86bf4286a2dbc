/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_rate.h"
#include "tap.h"

/* --- synthetic threads --------------------------------------------------- */

#define MS      INT64_C(1000000)
#define STEP_NS 61000
#define THREADS 2

/* A thread at 1 unit per microsecond that runs in the first run_ns of each
 * period, which began phase_ns before the probe. */
struct pattern {
    int64_t period_ns, run_ns, phase_ns;
};

static struct probe_mark marks[THREADS][8192];

static int64_t next_running(const struct pattern *p, int64_t ns)
{
    int64_t at = (ns + p->phase_ns) % p->period_ns;

    return at < p->run_ns ? ns : ns + p->period_ns - at;
}

static struct probe_trace make_trace(size_t thread,
                                     const struct pattern *p,
                                     int64_t budget_ns)
{
    struct probe_mark *m = marks[thread];
    int64_t ns = next_running(p, 0), begin;
    uint64_t units = 0;
    size_t n = 0;

    m[n++] = (struct probe_mark){ns, 0};
    while (ns < budget_ns) {
        for (begin = ns; ns - begin < STEP_NS; units += 4)
            ns = next_running(p, ns + 4000);
        m[n++] = (struct probe_mark){ns, units};
    }
    return (struct probe_trace){m, n};
}

/* The worst relative error over all phases, two threads alike. */
static double worst_error(int64_t period_ns, double share)
{
    double worst = 0, want = 2e6 * share;

    for (int64_t phase = 0; phase < period_ns; phase += period_ns / 100) {
        struct pattern p = {period_ns, (int64_t)(share * (double)period_ns),
                            phase};
        struct probe_trace trace[THREADS];
        double rate = 0, spread;

        for (size_t t = 0; t < THREADS; t++)
            trace[t] = make_trace(t, &p, 250 * MS);
        if (probe_rate(trace, THREADS, &rate, &spread) < 0)
            return 1;
        worst = fmax(worst, fabs(rate / want - 1));
    }
    return worst;
}

static void test_periods(void)
{
    static const double share[] = {0.05, 0.1, 0.2, 0.4, 0.8, 0.95, 1};
    static const int64_t period[] = {10 * MS, 20 * MS, 40 * MS, 100 * MS};

    for (size_t i = 0; i < sizeof period / sizeof period[0]; i++)
        for (size_t k = 0; k < sizeof share / sizeof share[0]; k++) {
            double error = worst_error(period[i], share[k]);
            ok(error < 0.025,
               "%.0f %% by a period of %d ms: within 2.5 %% at any phase",
               100 * share[k], (int)(period[i] / MS));
            if (error >= 0.025)
                diag("  error %.3f", error);
        }
}

static void test_shared_quota(void)
{
    /* One quota of 20 ms: a thread gets 13 of it, the other one 7. */
    struct pattern p[THREADS] = {{100 * MS, 13 * MS, 40 * MS},
                                 {100 * MS, 7 * MS, 40 * MS}};
    struct probe_trace trace[THREADS];
    double rate = 0, spread = 0;

    for (size_t t = 0; t < THREADS; t++)
        trace[t] = make_trace(t, &p[t], 250 * MS);
    is_int(probe_rate(trace, THREADS, &rate, &spread), 0,
           "threads that share a quota unevenly are understood");
    is_near(rate / 1e6, 0.2, 0.004, "and their sum is the quota");
    ok(spread > 0.5, "the spread tells that the speed is uneven");
}

static void test_alternating(void)
{
    /* Linux at 250 Hz, 10 % by 10 ms: 2 ms of 40 ms each, in turn. */
    struct pattern p[THREADS] = {{40 * MS, 2 * MS, 3 * MS},
                                 {40 * MS, 2 * MS, 8 * MS}};
    struct probe_trace trace[THREADS];
    double rate = 0, spread;

    for (size_t t = 0; t < THREADS; t++)
        trace[t] = make_trace(t, &p[t], 235 * MS);
    is_int(probe_rate(trace, THREADS, &rate, &spread), 0,
           "threads that run in turn are understood");
    is_near(rate / 1e6, 0.1, 0.002, "and each is measured over its periods");
}

static void test_single_stall(void)
{
    struct pattern p = {1000 * MS, 930 * MS, 830 * MS};
    struct probe_trace trace = make_trace(0, &p, 250 * MS);
    double rate = 0, spread;

    is_int(probe_rate(&trace, 1, &rate, &spread), 0,
           "one hiccup of 70 ms is no period");
    is_near(rate / 1e6, 180.0 / 250, 0.01, "and counts as time lost");
}

static void test_refusals(void)
{
    static const struct probe_mark same[] = {{5, 0}, {5, 9}};
    static const struct probe_mark idle[] = {{5, 3}, {9, 3}};
    static const struct probe_mark early[] = {{0, 0}, {5, 3}};
    static const struct probe_mark late[] = {{6, 0}, {9, 3}};
    const struct probe_trace apart[] = {{early, 2}, {late, 2}};
    double rate = 7, spread = 8;

    is_int(probe_rate(NULL, 0, &rate, &spread), -1, "no threads are refused");
    is_int(probe_rate(&(struct probe_trace){NULL, 0}, 1, &rate, &spread), -1,
           "a thread without marks is refused");
    is_int(probe_rate(&(struct probe_trace){same, 1}, 1, &rate, &spread), -1,
           "a thread with one mark is refused");
    is_int(probe_rate(&(struct probe_trace){same, 2}, 1, &rate, &spread), -1,
           "a thread that took no time is refused");
    is_int(probe_rate(&(struct probe_trace){idle, 2}, 1, &rate, &spread), -1,
           "a thread that did nothing is refused");
    is_int(probe_rate(apart, 2, &rate, &spread), -1,
           "threads with no time in common are refused");
    ok(rate == 7 && spread == 8, "a refusal leaves the results untouched");
}

static void test_mean(void)
{
    static const double even[] = {4, 4, 4}, uneven[] = {1, 3}, none[] = {0, 0};
    double spread = 7;

    is_near(probe_mean(even, 3, &spread), 4, 1e-12, "the mean of equal values");
    is_near(spread, 0, 1e-12, "which do not differ");
    is_near(probe_mean(uneven, 2, &spread), 2, 1e-12, "the mean of 1 and 3");
    is_near(spread, 0.5, 1e-12, "which differ by half of it");
    is_near(probe_mean(none, 2, &spread), 0, 0, "the mean of nothing done");
    is_near(spread, 0, 0, "has no spread");
}

int main(void)
{
    test_refusals();
    test_periods();
    test_shared_quota();
    test_alternating();
    test_single_stall();
    test_mean();
    return done();
}
