/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * java.h - arithmetic as Java does it, for policies that must come out to the
 * bit as JPPF's do.
 *
 * C leaves undefined or rounds otherwise what these define.  Sources: the Java
 * Language Specification, 5.1.3; java.lang.Math.
 */
#ifndef POLICY_JAVA_H
#define POLICY_JAVA_H

#include <stdint.h>

/* (int) x: toward 0, NaN becomes 0, what is beyond becomes the bound. */
int32_t java_int(double x);

/* Math.round(x): halves go up, NaN becomes 0, what is beyond the bound. */
int64_t java_round(double x);

/* Math.round(x) of a float, which gives an int. */
int32_t java_round_single(float x);

/* (int) n: the low 32 bits, in two's complement. */
int32_t java_low32(int64_t n);

/* a + b and a * b of ints, which wrap. */
int32_t java_add(int32_t a, int32_t b);
int32_t java_multiply(int32_t a, int32_t b);

/* Math.signum(x) as an int; 0 for NaN. */
int32_t java_sign(double x);

#endif
