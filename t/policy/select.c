/* SPDX-License-Identifier: BSD-2-Clause */
/* The k-th smallest, and the median. */
#include "policy/select.h"
#include "tap.h"

static void test_select(void)
{
    int pass = 1;

    for (size_t n = 1; n <= 7; n++)
        for (size_t k = 0; k < n; k++)
            for (unsigned shape = 0; shape < 3 * 3 * 3 * 3 * 3 * 3 * 3;
                 shape++) {
                double v[7];
                size_t below = 0, not_above = 0;
                unsigned rest = shape;
                double x;

                for (size_t i = 0; i < n; i++, rest /= 3)
                    v[i] = rest % 3;
                x = select_smallest(v, n, k);
                for (size_t i = 0; i < n; i++) {
                    below += v[i] < x;
                    not_above += v[i] <= x;
                }
                pass &= below <= k && k < not_above;
            }
    ok(pass, "the k-th smallest of up to 7 numbers, with every tie");
}

static void test_median(void)
{
    double one[] = {7}, two[] = {9, 1}, same[] = {3, 3, 3, 3};
    double odd[] = {5, 1, 3}, even[] = {7, 1, 3, 5}, huge[] = {1e308, 1.5e308};
    int wrong = 0;

    is_near(select_median(one, 1), 7, 0, "of one value the median is that");
    is_near(select_median(two, 2), 5, 0, "of two it is the mean");
    is_near(select_median(same, 4), 3, 0, "of equal ones it is that value");
    is_near(select_median(odd, 3), 3, 0, "the middle of three");
    is_near(select_median(even, 4), 4, 0, "the mean of the middle two");
    is_near(select_median(huge, 2), 1.25e308, 1e294, "their sum is no number");
    /* All arrangements of n digits of 0..n-1, repetitions too. */
    for (size_t n = 1; n <= 6; n++) {
        size_t codes = 1;

        for (size_t i = 0; i < n; i++)
            codes *= n;
        for (size_t code = 0; code < codes; code++) {
            double value[6], low[6] = {0}, m;
            size_t below = 0, above = 0, x = code;

            for (size_t i = 0; i < n; i++, x /= n)
                low[i] = value[i] = (double)(x % n);
            m = select_median(value, n);
            for (size_t i = 0; i < n; i++) {
                below += low[i] < m;
                above += low[i] > m;
            }
            wrong += below > n / 2 || above > n / 2;
        }
    }
    is_int(wrong, 0, "never is more than half below or above, n = 1 to 6");
}

int main(void)
{
    test_select();
    test_median();
    return done();
}
