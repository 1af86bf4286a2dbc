/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/select.h"

/* Hoare's FIND, as in Wirth, Algorithms + Data Structures, section 2.3.4. */
double select_smallest(double v[], size_t n, size_t k)
{
    ptrdiff_t lo = 0, hi = (ptrdiff_t)n - 1, at = (ptrdiff_t)k;

    while (lo < hi) {
        double pivot = v[at];
        ptrdiff_t i = lo, j = hi;

        while (i <= j) {
            double swap = v[i];

            if (swap < pivot) {
                i++;
            } else if (v[j] > pivot) {
                j--;
            } else {
                v[i++] = v[j];
                v[j--] = swap;
            }
        }
        if (j < at)
            lo = i;
        if (at < i)
            hi = j;
    }
    return v[at];
}

double select_median(double v[], size_t n)
{
    /* Halves, as the sum might be too large. */
    return select_smallest(v, n, (n - 1) / 2) / 2
           + select_smallest(v, n, n / 2) / 2;
}
