/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cost.h - what something costs, in CPU time of this process: whatever else
 * the machine does, it is the same.
 */
#ifndef COST_H
#define COST_H

#include "tap.h"

#include <time.h>

/* A machine, a compiler or -O0 may take so many times what it usually takes;
 * what grows with the square of the nodes takes far more. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define COST_FACTOR 50
#else
#    define COST_FACTOR 10
#endif

static inline double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* It took so many seconds; usual is what it takes with -O2. */
static inline void costs(double took, double usual, const char *what)
{
    ok(took <= COST_FACTOR * usual, "%s: at most %d times %g ms", what,
       COST_FACTOR, usual * 1e3);
    diag("%s: %.3f ms", what, took * 1e3);
}

#endif
