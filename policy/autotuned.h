/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * autotuned.h - JPPF's autotuned: a random walk around the best size so far.
 *
 * Every node remembers for each size that came back its mean time of a bundle.
 * As soon as enough tasks of a size are known, the size with the least mean is
 * looked for and the next one is guessed at random near it; when all guesses
 * are known sizes, the best one is kept and the others are forgotten.  It never
 * stops exploring, and no sample ages.  Three parameters that JPPF documents
 * have no effect there, nor here.
 *
 * With documented = 1 they have the effect that JPPF's manual gives them: the
 * guesses come nearer to the best (cooling.h), and end; then the best size stays
 * until, over minSamplesToCheckConvergence tasks, the mean time of a task differs
 * by more than maxDeviation from what it was then, and all begins anew from
 * that size.
 */
#ifndef POLICY_AUTOTUNED_H
#define POLICY_AUTOTUNED_H

#include "policy/policy.h"

extern const struct policy_kind autotuned_kind;

#endif
