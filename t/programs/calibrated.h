/* SPDX-License-Identifier: BSD-2-Clause */
/* calibrated.h - work of so many seconds of CPU time, for programs whose ranks
 * have different amounts of it. */
#ifndef T_PROGRAMS_CALIBRATED_H
#define T_PROGRAMS_CALIBRATED_H

#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline void compute(long loops)
{
    volatile double x = 1;

    for (long i = 0; i < loops; i++)
        x = x * 1.0000001 + 1e-9;
}

/* Loops a second of CPU time: the best of some, as others may be in the way. */
static inline double calibrate(void)
{
    double best = 0;

    for (int i = 0; i < 20; i++) {
        double began = cpu_seconds(), took;

        compute(2000000);
        took = cpu_seconds() - began;
        if (2000000 / took > best)
            best = 2000000 / took;
    }
    return best;
}

static inline double work_of(const char *list, int rank)
{
    for (; rank > 0 && strchr(list, ','); rank--)
        list = strchr(list, ',') + 1;
    return atof(list);
}

#endif
