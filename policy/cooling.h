/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cooling.h - how far a search goes from the best that it knows, and when it
 * ends: the range decays with each guess, and at 1 there is nothing to guess.
 *
 * As JPPF documents decreaseRatio of its autotuned (AnnealingTuneProfile, 5.2 to
 * 6.3), whose code does not do so: for a range of 100, 5 guesses with a ratio of
 * 1, 2 with 2, 9 with 0.5, 46 with 0.1 and some 96 with 0.05 (by its formula,
 * range * exp(-x * ratio), it is 92).  Pure.
 */
#ifndef POLICY_COOLING_H
#define POLICY_COOLING_H

#include <stdint.h>

/* Guesses, at least 1; a ratio of 0 or less never ends: INT32_MAX. */
int32_t cooling_guesses(int32_t range, double ratio);

/* How far the next guess may be after so many, 1 to range; range >= 1. */
int32_t cooling_range(int32_t range, double ratio, int32_t guesses);

#endif
