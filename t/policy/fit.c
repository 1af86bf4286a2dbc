/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/fit.h"
#include "tap.h"

#define NODES 4

/* Nodes that differ in C, M and S, each in its own way; alike in I. */
static const double nodes[NODES][ELEMENTS] = {{8, 1, 10, 1, 5, 0},
                                              {4, 5, 10, 1, 1, 0},
                                              {2, 3, 10, 1, 4, 0},
                                              {1, 9, 10, 1, 2, 0}};

/* Rates that follow weights w of the elements' shares. */
static void rates_of(const double w[ELEMENTS], double rate[NODES])
{
    for (int i = 0; i < NODES; i++) {
        rate[i] = 0;
        for (int j = 0; j < ELEMENTS; j++) {
            double sum = 0;

            for (int k = 0; k < NODES; k++)
                sum += nodes[k][j];
            rate[i] += sum > 0 ? 1000 * w[j] * nodes[i][j] / sum : 0;
        }
    }
}

static void test_known(const double w[ELEMENTS], const char *name)
{
    struct profile p = {{0}};
    struct fit f = {.runs = 0};
    double rate[NODES], jl[NODES], sum = 0, all = 0, off = 0;
    struct metric m[NODES];

    rates_of(w, rate);
    for (int run = 0; run < FIT_RUNS_MIN; run++)
        is_int(fit_add(&f, nodes, rate, NODES), 0, "a run is added");
    is_int((intmax_t)f.runs, FIT_RUNS_MIN, "and counted");
    is_int(fit_profile(&f, &p), 0, name);
    is_int(metric_rank(nodes, &p, m, NODES), 0, "a profile that ranks");
    for (int i = 0; i < NODES; i++) {
        jl[i] = m[i].JL;
        sum += rate[i];
        all += jl[i];
    }
    for (int i = 0; i < NODES; i++)
        off += jl[i] > 100 * rate[i] / sum ? jl[i] - 100 * rate[i] / sum
                                           : 100 * rate[i] / sum - jl[i];
    is_near(off, 0, 1e-3, "whose JL is the rates that were");
    is_near(all, 100, 1e-9, "in percent");
}

static void test_bad(void)
{
    static const struct {
        const char *what;
        double measured[3][ELEMENTS], rate[3];
        size_t n;
    } bad[] = {
        {"no node", {{1}, {1}}, {1, 1}, 0},
        {"one node", {{1}, {1}}, {1, 1}, 1},
        {"only one at work", {{1}, {1}}, {1, 0}, 2},
        {"nothing measured", {{0}, {0}}, {1, 1}, 2},
        {"a negative rate", {{1}, {1}, {1}}, {1, 1, -1}, 3},
        {"a NaN rate", {{1}, {1}}, {1, (double)NAN}, 2},
        {"an infinite rate", {{1}, {1}}, {1, (double)INFINITY}, 2},
        {"a negative value", {{3}, {-1}}, {1, 1}, 2},
        {"a NaN value", {{1}, {(double)NAN}}, {1, 1}, 2},
        {"values that overflow", {{1e308}, {1e308}}, {1, 1}, 2},
    };
    static const struct fit empty;
    struct profile p = {{7}};
    struct fit f = empty;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ok(fit_add(&f, bad[i].measured, bad[i].rate, bad[i].n) == -1
               && memcmp(&f, &empty, sizeof f) == 0,
           "%s is refused, and nothing added", bad[i].what);
    ok(fit_profile(&f, &p) == -1 && p.influence[0] == 7,
       "from no run there is no profile");
}

/* What is alike on all nodes, and what is noise, get no weight to speak of. */
static void test_noise(void)
{
    static const double only_c[ELEMENTS] = {1};
    struct profile p;
    struct fit f = {.runs = 0};
    double rate[NODES];

    for (int run = 0; run < 8; run++) {
        rates_of(only_c, rate);
        for (int i = 0; i < NODES; i++)
            rate[i] *= 1 + 0.02 * ((run * 7 + i * 3) % 5 - 2);
        is_int(fit_add(&f, nodes, rate, NODES), 0, "a noisy run is added");
    }
    is_int(fit_profile(&f, &p), 0, "they are fitted");
    is_near(p.influence[ELEMENT_C], 1, 0, "C is what counts");
    for (int j = ELEMENT_M; j < ELEMENTS; j++)
        ok(p.influence[j] < 0.2, "%c weighs less than a twenty-fifth of that",
           element_letter((enum element)j));
}

int main(void)
{
    test_bad();
    test_known((double[ELEMENTS]){1}, "work that follows C alone");
    test_known((double[ELEMENTS]){0, 1}, "M alone");
    test_known((double[ELEMENTS]){0.5, 0.3, 0, 0, 0.2, 0}, "C, M and S");
    test_known((double[ELEMENTS]){0.6, 0, 0.4}, "C, and a part that is alike");
    test_noise();
    return done();
}
