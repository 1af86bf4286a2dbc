/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * select.h - the k-th smallest of some numbers, without sorting them.
 */
#ifndef POLICY_SELECT_H
#define POLICY_SELECT_H

#include <stddef.h>

/* The k-th smallest (k < n, from 0) of n numbers, none NaN; v is permuted.
 * O(n) on average. */
double select_smallest(double v[], size_t n, size_t k);

/* The median of n >= 1 numbers, none NaN, which a few wild ones do not move;
 * of an even number the mean of the middle two.  v is permuted.  O(n) on
 * average. */
double select_median(double v[], size_t n);

#endif
