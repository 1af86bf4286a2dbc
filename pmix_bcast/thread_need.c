/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/thread_need.h"

#define BUSY  0.7  /* the part of its time from which on a thread is busy */
#define SPARE 0.25 /* of the time of one fewer, below which these do */

unsigned thread_need(const double cpu_s[],
                     unsigned n,
                     double passed,
                     unsigned least,
                     unsigned most)
{
    double all = 0, idlest = passed;

    for (unsigned i = 0; i < n; i++) {
        all += cpu_s[i];
        if (cpu_s[i] < idlest)
            idlest = cpu_s[i];
    }
    if (n < most && idlest > BUSY * passed)
        return n + 1;
    if (n > least && all < SPARE * passed * (n - 1))
        return n - 1;
    return n;
}
