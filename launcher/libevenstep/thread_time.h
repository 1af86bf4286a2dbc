/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread_time.h - how the time of a rank's OpenMP threads goes: busy, or waiting
 * for each other.
 *
 * Whoever knows a thread tells of it: omp_tool.c, omp_gomp.c.  The metered
 * thread, which calls MPI, is busy unless it waits for the others; they wait
 * unless they are busy.  What they did is in the meter page when they wait again:
 * of all together beside the rank's slot, and of each in one of its own
 * (team_thread.h).
 *
 * No call takes a lock or memory.  Without a metered thread nothing is measured.
 */
#ifndef LAUNCHER_LIBEVENSTEP_THREAD_TIME_H
#define LAUNCHER_LIBEVENSTEP_THREAD_TIME_H

#include "launcher/libevenstep/meter_page.h"

/* This thread is the metered one, and this is its rank's slot. */
void thread_time_start(struct meter_page *page, uint32_t slot);
/* Nothing is measured any more. */
void thread_time_stop(void);
/* In a child after fork(): likewise. */
void thread_time_forget(void);
/* Is anything measured? */
int thread_time_is_on(void);
/* This thread begins its part in a team of n, and is busy; is_first: it leads
 * it. */
void thread_time_enter(unsigned n, int is_first);
/* It has left a team of n, after thread_time_set(). */
void thread_time_leave(unsigned n);
/* It is busy, or it waits.  Returns what it was. */
int thread_time_set(int is_busy);
/* The program does what cannot be told as busy or waiting: its threads' time is
 * not known. */
void thread_time_give_up(void);

#endif
