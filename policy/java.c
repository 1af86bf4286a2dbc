/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/java.h"

#include <math.h>

int32_t java_int(double x)
{
    if (isnan(x))
        return 0;
    if (x <= (double)INT32_MIN)
        return INT32_MIN;
    if (x >= (double)INT32_MAX)
        return INT32_MAX;
    return (int32_t)x;
}

int64_t java_round(double x)
{
    double whole = floor(x);

    if (isnan(x))
        return 0;
    if (x - whole >= 0.5) /* exact, which floor(x + 0.5) is not */
        whole += 1;
    if (whole <= -0x1p63)
        return INT64_MIN;
    if (whole >= 0x1p63)
        return INT64_MAX;
    return (int64_t)whole;
}

int32_t java_round_single(float x)
{
    return java_int(floor((double)x + 0.5)); /* exact for every float */
}

int32_t java_low32(int64_t n)
{
    return (int32_t)n; /* which C leaves to compilers; gcc and clang wrap */
}

int32_t java_add(int32_t a, int32_t b)
{
    return java_low32((int64_t)a + b);
}

int32_t java_multiply(int32_t a, int32_t b)
{
    return java_low32((int64_t)a * b);
}

int32_t java_sign(double x)
{
    return (x > 0) - (x < 0);
}
