/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/median.h"

/*
 * The at-th smallest; afterwards none before it is greater.
 * Hoare's FIND, as in Wirth, Algorithms + Data Structures, section 2.3.4.
 */
static double find(double value[], size_t n, size_t k)
{
    ptrdiff_t lo = 0, hi = (ptrdiff_t)n - 1, at = (ptrdiff_t)k;

    while (lo < hi) {
        double pivot = value[at];
        ptrdiff_t i = lo, j = hi;

        while (i <= j) {
            double swap = value[i];

            if (swap < pivot) {
                i++;
            } else if (value[j] > pivot) {
                j--;
            } else {
                value[i++] = value[j];
                value[j--] = swap;
            }
        }
        if (j < at)
            lo = i;
        if (at < i)
            hi = j;
    }
    return value[at];
}

double median_of(double value[], size_t n)
{
    double upper = find(value, n, n / 2), lower;

    if (n % 2 == 1)
        return upper;
    lower = value[0];
    for (size_t i = 1; i < n / 2; i++)
        if (value[i] > lower)
            lower = value[i];
    return lower + (upper - lower) / 2;
}
