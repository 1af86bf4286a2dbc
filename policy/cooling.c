/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/cooling.h"

#include <math.h>

int32_t cooling_guesses(int32_t range, double ratio)
{
    double guesses;

    if (!(ratio > 0))
        return INT32_MAX;
    guesses = floor(log((double)range) / ratio + 0.5);
    if (!(guesses >= 1))
        return 1;
    return guesses < INT32_MAX ? (int32_t)guesses : INT32_MAX;
}

int32_t cooling_range(int32_t range, double ratio, int32_t guesses)
{
    double left = ratio > 0 ? (double)range * exp(-ratio * (double)guesses)
                            : (double)range;

    return left >= 1 ? (int32_t)left : 1;
}
