/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread_time.h - how the time of a rank's OpenMP threads goes: busy, or waiting
 * for each other.
 *
 * Whoever knows a thread tells of it: omp_tool.c, omp_gomp.c.  The metered
 * thread, which calls MPI, is busy unless it waits for the others; they wait
 * unless they are busy.  What they did is in the meter page when they wait again.
 *
 * No call takes a lock or memory.  Without a metered thread nothing is measured.
 */
#ifndef LAUNCHER_LIBEVENSTEP_THREAD_TIME_H
#define LAUNCHER_LIBEVENSTEP_THREAD_TIME_H

#include "launcher/libevenstep/meter_page.h"

/* This thread is the metered one, and this is its rank's entry. */
void thread_time_start(struct meter_rank *entry);
/* Nothing is measured any more. */
void thread_time_stop(void);
/* Is anything measured? */
int thread_time_is_on(void);
/* This thread is in a team of n. */
void thread_time_team(unsigned n);
/* It is busy, or it waits.  Returns what it was. */
int thread_time_set(int is_busy);
/* The program does what cannot be told as busy or waiting: its threads' time is
 * not known. */
void thread_time_give_up(void);

#endif
