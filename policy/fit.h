/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fit.h - the influence profile of a kind of work from earlier runs of it:
 * which elements of the nodes their measured rates followed.  Pure.
 *
 * Rates are fitted as rate = sum over the elements of w * X, w >= 0: both in
 * percent over the nodes of their run, so that runs of any size and unit go
 * together.  JL counts an influence twice (profile.h), so I = sqrt(w) makes
 * JL the fitted rate.
 *
 * US 8,645,454 leaves it open how influences are found automatically.  Here by
 * non-negative least squares: Lawson and Hanson, Solving Least
 * Squares Problems (1974), chapter 23, here by coordinate descent, as there
 * are but six unknowns.
 */
#ifndef POLICY_FIT_H
#define POLICY_FIT_H

#include "policy/metric.h"

/* What has been added up: all 0 at the start. */
struct fit {
    double xx[ELEMENTS][ELEMENTS], xy[ELEMENTS];
    size_t runs;
};

/* Below so many runs chance decides more than the work does. */
#define FIT_RUNS_MIN 5

/*
 * Add a run of n nodes: what they measured (as for metric_rank()) and did,
 * units a second each.  0, or -1 if a value is not finite or negative, fewer
 * than two nodes did anything or nothing was measured (*f untouched).  O(n).
 */
int fit_add(struct fit *f,
            const double measured[][ELEMENTS],
            const double rate[],
            size_t n);

/* The profile, its largest influence 1.  0, or -1 if no element explains
 * anything (*p untouched). */
int fit_profile(const struct fit *f, struct profile *p);

#endif
