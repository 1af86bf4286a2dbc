/* SPDX-License-Identifier: BSD-2-Clause */
/* JPPF's table of guesses, and what it leaves open. */
#include "policy/cooling.h"
#include "tap.h"

#include <math.h>

/* AnnealingTuneProfile: "if the best solution is between 0-100". */
static const struct {
    double ratio;
    int32_t guesses;
} documented[] = {{1, 5}, {2, 2}, {0.5, 9}, {0.1, 46}, {0.05, 96}};

static void test_table(void)
{
    for (size_t i = 0; i < sizeof documented / sizeof documented[0]; i++) {
        int32_t n = cooling_guesses(100, documented[i].ratio);
        double off = fabs((double)(n - documented[i].guesses))
                     / (double)documented[i].guesses;

        ok(i < 4 ? off <= 0 : off < 0.05,
           "ratio %g: %d guesses, documented are %d", documented[i].ratio, n,
           documented[i].guesses);
    }
}

static void test_end(void)
{
    for (double ratio = 0.01; ratio < 3; ratio *= 1.3)
        for (int32_t range = 2; range < 100000; range *= 7) {
            int32_t n = cooling_guesses(range, ratio);

            if (cooling_range(range, ratio, n - 1) < 1
                || cooling_range(range, ratio, n + 1) > 2
                || cooling_range(range, ratio, 0) != range) {
                ok(0, "%d of ratio %g cools to 1", range, ratio);
                return;
            }
        }
    ok(1, "any range is whole at first, and cools to 1 with the last guess");
}

int main(void)
{
    test_table();
    test_end();
    is_int(cooling_guesses(1, 0.2), 1, "a range of 1 has one guess");
    is_int(cooling_guesses(100, 1e9), 1, "so has one that cools at once");
    is_int(cooling_guesses(100, 0), INT32_MAX, "without a ratio it never ends");
    is_int(cooling_guesses(100, -1), INT32_MAX, "nor below 0");
    is_int(cooling_range(100, -1, 1000), 100, "and stays as it is");
    is_int(cooling_guesses(INT32_MAX, 1e-300), INT32_MAX, "nor overflows");
    is_int(cooling_range(100, 1, INT32_MAX), 1, "nothing is below 1");
    return done();
}
