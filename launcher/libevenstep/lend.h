/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lend.h - CPUs of ranks that wait, for threads of a rank of their node that has
 * more of them than CPUs, where EVENSTEP_LEND is set: policy/lending.h decides.
 *
 * What the program computes does not change, nor how many threads it has, but
 * where they run.  A thread of the rank looks every few ms who waits, and moves
 * its other threads there and back.  Nobody changes anything of another process,
 * so nothing is left behind by one that is killed.
 */
#ifndef LAUNCHER_LIBEVENSTEP_LEND_H
#define LAUNCHER_LIBEVENSTEP_LEND_H

#include "launcher/libevenstep/meter_page.h"

/* This process is the rank of that slot. */
void lend_start(struct meter_page *page, uint32_t slot);
/* It lends and borrows nothing any more. */
void lend_stop(void);
/* Is anything lent?  Else nobody need tell of threads. */
int lend_is_on(void);
/* This thread begins its part of a parallel region, as that number of its team:
 * it is busy. */
void lend_thread(unsigned number);
/* It waits, or has left the region; or it goes on. */
void lend_busy(int is_busy);

#endif
