/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watts.h - what a core draws at work and idle, from what nodes have counted:
 * the power of machine.h, fitted.  Pure.
 *
 * A point is a node in a run: the joules that it used while its cores were busy
 * and idle for so many core seconds.  By least squares over points,
 *
 *   joules / time = watts_busy * busy / time + watts_idle * idle / time
 *
 * both at least 0; time is busy + idle, so long runs count no more than short
 * ones.  What a node draws besides its cores is in both, as base is 0 then.
 */
#ifndef POLICY_WATTS_H
#define POLICY_WATTS_H

#include <stdint.h>

/* Fewer points fit by chance, as two numbers are sought. */
#define WATTS_POINTS_MIN 3

/* Points that are all busy for nearly the same part of their time cannot tell
 * busy from idle: the least determinant, to that of unrelated columns. */
#define WATTS_APART_MIN 0.01

/* The normal equations' sums; all 0 at the start.  They may be kept, and added
 * to in a later run. */
struct watts {
    uint32_t points;
    double bb, bi, ii, bj, ij; /* busy, idle, joules, each of a core second */
};

/* Add a point.  0, or -1 (*w untouched) if a value is negative or not finite, or
 * no time passed. */
int watts_add(struct watts *w, double joules, double busy_s, double idle_s);

/* Are these sums that points can have?  For what was read from a file. */
int watts_hold(const struct watts *w);

/* Watts of a core.  0, or -1 (results untouched) if there are too few points,
 * they are too much alike, or an idle core would draw more than a busy one. */
int watts_fit(const struct watts *w, double *busy, double *idle);

#endif
