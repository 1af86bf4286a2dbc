/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread_advice.h - the actuator "threads": the number that evenstep_threads()
 * advises a program's ranks to use.  Nothing of the node is changed, so nothing
 * must be restored, and no rights are needed.
 */
#ifndef LAUNCHER_POWER_THREAD_ADVICE_H
#define LAUNCHER_POWER_THREAD_ADVICE_H

#include <stdint.h>

struct thread_advice {
    uint32_t limit, floor, ceiling; /* 1 <= floor <= limit <= ceiling */
};

/* The ceiling is the number of CPUs that we may use; start and lowest are parts
 * of it, 0..1. */
void thread_advice_init(struct thread_advice *a, double start, double lowest);
/* Set the limit, if it is within the bounds.  Returns the limit in force. */
uint32_t thread_advice_set(struct thread_advice *a, uint64_t limit);

#endif
