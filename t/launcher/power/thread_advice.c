/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/power/thread_advice.h"
#include "tap.h"

#include <sched.h>

/* What we may use; the whole machine's CPUs otherwise. */
static uint32_t cpus(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) < 0)
        bail("no affinity");
    return (uint32_t)CPU_COUNT(&set);
}

int main(void)
{
    uint32_t all = cpus();
    struct thread_advice a;

    thread_advice_init(&a, 1, 1);
    ok(a.ceiling == all && a.limit == all && a.floor == all,
       "the whole of the CPUs is all of them");
    thread_advice_init(&a, 0.01, 0.01);
    ok(a.floor == 1 && a.limit == (all < 200 ? 1 : all / 100),
       "there is at least one thread");
    thread_advice_init(&a, 0.01, 1);
    is_int(a.limit, all, "the start is not below the floor");
    thread_advice_init(&a, 0.5, 0.01);
    is_int(thread_advice_set(&a, all), all, "the ceiling may be set");
    is_int(thread_advice_set(&a, all + 1), all, "more may not");
    is_int(thread_advice_set(&a, 0), all, "nor less than the floor");
    is_int(thread_advice_set(&a, UINT64_MAX), all, "nor what is no number");
    is_int(thread_advice_set(&a, 1), 1, "the floor may");
    return done();
}
