/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread_advice.h - the actuator "threads": how many a program's ranks are told
 * to use by evenstep_threads().  Nothing of the node is changed, so there is
 * nothing to put back, and no rights are needed.
 */
#ifndef LAUNCHER_POWER_THREAD_ADVICE_H
#define LAUNCHER_POWER_THREAD_ADVICE_H

#include <stdint.h>

struct thread_advice {
    uint32_t limit, floor, ceiling; /* 1 <= floor <= limit <= ceiling */
};

/* Of the CPUs that we may use: start and lowest are parts of them. */
void thread_advice_init(struct thread_advice *a, double start, double lowest);
/* The limit from now on: as asked, if that is within the bounds. */
uint32_t thread_advice_set(struct thread_advice *a, uint64_t limit);

#endif
