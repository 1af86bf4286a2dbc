/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/clock.h"

#include <time.h>

int64_t clock_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* fails for a bad id only */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double clock_s(void)
{
    return (double)clock_ns() / 1e9;
}
