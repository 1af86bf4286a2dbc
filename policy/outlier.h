/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * outlier.h - nodes that are far from what others of their kind measure: the
 * card in the wrong slot, the forgotten power limit.  Pure.
 *
 * Far is told in robust deviations: the distance to the median of all nodes of
 * the kind, in units of their median absolute deviation, scaled so that it is
 * the standard deviation where values are normal.  Up to half of the nodes may
 * be wild without moving the rule.
 */
#ifndef POLICY_OUTLIER_H
#define POLICY_OUTLIER_H

#include "policy/metric.h"

#include <stdint.h>

#define OUTLIER_LIMIT 3 /* robust deviations; a usual choice */

/* 1 / the 0.75 quantile of the normal distribution. */
#define OUTLIER_MAD_SCALE 1.4826

/* A deviation is at least this part of the median: healthy nodes of a kind
 * differ by that much, and if more than half measure exactly the same (a link
 * speed from sysfs), the median absolute deviation is 0. */
#define OUTLIER_FLOOR 0.02

/* Fewer nodes of a kind have no majority. */
#define OUTLIER_NODES_MIN 3

struct outlier {
    size_t node;
    enum element element;
    double deviations; /* robust ones; < 0: below the median */
    double off;        /* the same relative to the median: -0.25 is a quarter
                          below */
};

/*
 * Find the nodes that are more than "limit" robust deviations off the median
 * of their kind.
 *
 *   measured  n rows; NaN: not measured, which is left out everywhere
 *   kind      n numbers, equal where nodes should be alike
 *   scratch   room for n values
 *   found     room for "most", in order of element and kind, then node
 *
 * Where the median is 0 there is no measure of far, and nobody is.
 * Returns how many there are, of which at most "most" are stored.
 * O(n * kinds).  Source: Rousseeuw and Croux, Alternatives to the
 * Median Absolute Deviation, JASA 88 (1993), section 1.
 */
size_t outlier_find(const double measured[][ELEMENTS],
                    const uint32_t kind[],
                    size_t n,
                    double limit,
                    double scratch[],
                    struct outlier found[],
                    size_t most);

#endif
