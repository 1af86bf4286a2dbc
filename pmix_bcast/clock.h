/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.h - the time that only goes forward (CLOCK_MONOTONIC), for all that
 * measures or waits.
 */
#ifndef PMIX_BCAST_CLOCK_H
#define PMIX_BCAST_CLOCK_H

#include <stdint.h>

int64_t clock_ns(void);
double clock_s(void); /* in seconds */

#endif
