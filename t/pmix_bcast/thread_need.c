/* SPDX-License-Identifier: BSD-2-Clause */
/* When another thread takes part, and when one no longer does. */
#include "pmix_bcast/thread_need.h"
#include "tap.h"

#include <string.h>

#define THREADS 4u

static const struct look {
    const char *what;
    double cpu_s[THREADS];
    unsigned n;
    double passed;
    unsigned least, most, want;
} look[] = {
    {"none has passed: as it was", {0}, 1, 0, 1, 4, 1},
    {"at 100 Mbit/s one does", {0.001}, 1, 0.02, 1, 4, 1},
    {"one that is half busy does", {0.010}, 1, 0.02, 1, 4, 1},
    {"at 70 % it still does", {0.7}, 1, 1, 1, 4, 1},
    {"above it is two", {0.71}, 1, 1, 1, 4, 2},
    {"where there may be two", {0.02}, 1, 0.02, 1, 1, 1},
    {"it had more than passed, as clocks are read in turn",
     {0.021},
     1,
     0.02,
     1,
     2,
     2},
    {"both are busy: three", {0.018, 0.016}, 2, 0.02, 1, 4, 3},
    {"the first has time: two", {0.012, 0.02}, 2, 0.02, 1, 4, 2},
    {"the last has time: two", {0.02, 0.012}, 2, 0.02, 1, 4, 2},
    {"the one between has time: three", {0.02, 0.012, 0.02}, 3, 0.02, 1, 4, 3},
    {"all of four are busy: there are no more",
     {0.02, 0.02, 0.02, 0.02},
     4,
     0.02,
     1,
     4,
     4},
    {"two have what one would do with time to spare: one",
     {0.002, 0.002},
     2,
     0.02,
     1,
     4,
     1},
    {"what keeps one busy for a quarter: still two",
     {0.0025, 0.0025},
     2,
     0.02,
     1,
     4,
     2},
    {"what three do two could: one fewer at a time",
     {0.003, 0.003, 0.003},
     3,
     0.02,
     1,
     4,
     2},
    {"what three do two could not: three",
     {0.004, 0.004, 0.004},
     3,
     0.02,
     1,
     4,
     3},
    {"so many were asked for, and are idle", {0, 0, 0}, 3, 0.02, 3, 3, 3},
    {"so many were asked for, and are busy",
     {0.02, 0.02, 0.02},
     3,
     0.02,
     3,
     3,
     3},
};

/* What one does in a look, n do in turn: they become neither more nor fewer. */
static void test_steady(void)
{
    int wrong = 0;

    for (unsigned n = 1; n < 2 * THREADS; n++)
        for (unsigned part = 0; part <= 100; part++) {
            double cpu_s[2 * THREADS];
            unsigned next;

            for (unsigned i = 0; i < n; i++)
                cpu_s[i] = part / 100.0;
            next = thread_need(cpu_s, n, 1, 1, 2 * THREADS);
            if (next <= n)
                continue;
            for (unsigned i = 0; i < next; i++)
                cpu_s[i] = part / 100.0 * n / next;
            wrong += thread_need(cpu_s, next, 1, 1, 2 * THREADS) < next;
        }
    is_int(wrong, 0,
           "where one came it stays, as long as the work is the same");
}

int main(void)
{
    for (size_t i = 0; i < sizeof look / sizeof look[0]; i++) {
        const struct look *l = &look[i];

        is_int((int)thread_need(l->cpu_s, l->n, l->passed, l->least, l->most),
               (int)l->want, l->what);
    }
    test_steady();
    return done();
}
