/* SPDX-License-Identifier: BSD-2-Clause */
/* Java's conversions, at and on both sides of where they turn. */
#include "policy/java.h"
#include "tap.h"

static void test_int(void)
{
    static const struct {
        double x;
        int32_t want;
    } rows[] = {
        {0, 0},
        {-0.9, 0},
        {-1.9, -1},
        {1.9, 1},
        {2147483646.9, INT32_MAX - 1},
        {2147483647, INT32_MAX},
        {2147483648, INT32_MAX},
        {1e300, INT32_MAX},
        {(double)INFINITY, INT32_MAX},
        {-2147483647.9, -INT32_MAX},
        {-2147483648.0, INT32_MIN},
        {-2147483649.0, INT32_MIN},
        {-(double)INFINITY, INT32_MIN},
        {(double)NAN, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ok(java_int(rows[i].x) == rows[i].want, "(int) %.17g is %jd", rows[i].x,
           (intmax_t)rows[i].want);
}

static void test_round(void)
{
    static const struct {
        double x;
        int64_t want;
    } rows[] = {
        {2.5, 3},
        {-2.5, -2},
        {-2.6, -3},
        {2.4, 2},
        {0.49999999999999994, 0},
        {0x1p52 + 1, (INT64_C(1) << 52) + 1},
        {0x1p63, INT64_MAX},
        {0x1p64, INT64_MAX},
        {-0x1p63, INT64_MIN},
        {-0x1p64, INT64_MIN},
        {-0x1p62, -(INT64_C(1) << 62)},
        {(double)INFINITY, INT64_MAX},
        {-(double)INFINITY, INT64_MIN},
        {(double)NAN, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ok(java_round(rows[i].x) == rows[i].want, "round(%.17g) is %jd",
           rows[i].x, (intmax_t)rows[i].want);
    ok(java_round_single(2.5F) == 3 && java_round_single(-2.5F) == -2
           && java_round_single(-2.6F) == -3 && java_round_single(2.4F) == 2
           && java_round_single(1e30F) == INT32_MAX
           && java_round_single((float)NAN) == 0,
       "round() of a float gives an int");
}

static void test_wrap(void)
{
    static const struct {
        int64_t n;
        int32_t want;
    } rows[] = {
        {0, 0},
        {-1, -1},
        {INT32_MAX, INT32_MAX},
        {INT32_MAX + INT64_C(1), INT32_MIN},
        {INT32_MIN, INT32_MIN},
        {INT32_MIN - INT64_C(1), INT32_MAX},
        {INT64_C(1) << 32, 0},
        {(INT64_C(1) << 32) + 5, 5},
        {INT64_MAX, -1},
        {INT64_MIN, 0},
        {INT64_C(-3333332333), 961634963},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ok(java_low32(rows[i].n) == rows[i].want, "(int) %jd is %jd",
           (intmax_t)rows[i].n, (intmax_t)rows[i].want);
    ok(java_add(INT32_MAX, 1) == INT32_MIN && java_add(2, -3) == -1,
       "a sum wraps");
    ok(java_multiply(INT32_MAX, 2) == -2 && java_multiply(-3, 4) == -12,
       "so does a product");
    ok(java_sign(7) == 1 && java_sign(-0.1) == -1 && java_sign(0) == 0
           && java_sign((double)NAN) == 0,
       "the sign of nothing, or of no number, is 0");
}

int main(void)
{
    test_int();
    test_round();
    test_wrap();
    return done();
}
