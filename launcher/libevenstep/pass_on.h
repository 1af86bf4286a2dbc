/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pass_on.h - how to stand in front of a library's function: all arguments are
 * passed on as long.
 *
 * On the ABIs that Linux has, what an int, a pointer or a long of the caller is
 * in its register or on the stack, it is there again.
 */
#ifndef LAUNCHER_LIBEVENSTEP_PASS_ON_H
#define LAUNCHER_LIBEVENSTEP_PASS_ON_H

#include "launcher/libevenstep/mpi_real.h"

#include <stdatomic.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

/* Parameters and arguments of calls with so many. */
#define P0  void
#define P1  long a
#define P2  P1, long b
#define P3  P2, long c
#define P4  P3, long d
#define P5  P4, long e
#define P6  P5, long f
#define P7  P6, long g
#define P8  P7, long h
#define P9  P8, long i
#define P10 P9, long j
#define P11 P10, long k
#define P12 P11, long l
#define P13 P12, long m
#define P14 P13, long n
#define A0
#define A1  a
#define A2  A1, b
#define A3  A2, c
#define A4  A3, d
#define A5  A4, e
#define A6  A5, f
#define A7  A6, g
#define A8  A7, h
#define A9  A8, i
#define A10 A9, j
#define A11 A10, k
#define A12 A11, l
#define A13 A12, m
#define A14 A13, n

/* The real function of that name, for a wrapper of n parameters. */
#define REAL(name, n)                                                          \
    static void *_Atomic real_##name;                                          \
    typedef long name##_fn(P##n);                                              \
    static inline name##_fn *find_##name(const void *caller)                   \
    {                                                                          \
        void *found =                                                          \
            atomic_load_explicit(&real_##name, memory_order_relaxed);          \
                                                                               \
        if (__builtin_expect(!found, 0)) {                                     \
            found = mpi_real_need(#name, caller);                              \
            atomic_store_explicit(&real_##name, found, memory_order_relaxed);  \
        }                                                                      \
        return (name##_fn *)found;                                             \
    }

#define CALLER __builtin_return_address(0)

#endif
