/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * huber.h - errors that are far off count for less than their square (Huber, Robust
 * Estimation of a Location Parameter, Annals of Mathematical Statistics 35, 1964).
 * z: an error in deviations.  Pure.
 */
#ifndef POLICY_HUBER_H
#define POLICY_HUBER_H

#include <math.h>

/* Errors up to so many deviations count by their square. */
#define HUBER_NEAR 1.5

/* What an error weighs in least squares. */
static inline double huber_weight(double z)
{
    return fabs(z) > HUBER_NEAR ? HUBER_NEAR / fabs(z) : 1;
}

/* What it costs: its square, if it is near. */
static inline double huber_loss(double z)
{
    return fabs(z) > HUBER_NEAR ? HUBER_NEAR * (2 * fabs(z) - HUBER_NEAR)
                                : z * z;
}

#endif
