/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * median.h - the middle of some values, which a few wild ones do not move.
 * Pure.
 */
#ifndef POLICY_MEDIAN_H
#define POLICY_MEDIAN_H

#include <stddef.h>

/*
 * The median of n >= 1 values, none NaN; of an even number the mean of the
 * middle two.  Permutes value[].  O(n) on average.
 */
double median_of(double value[], size_t n);

#endif
