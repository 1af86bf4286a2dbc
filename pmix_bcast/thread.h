/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread.h - a thread beside the loop, which keeps all signals to itself, and how
 * many there may be.
 */
#ifndef PMIX_BCAST_THREAD_H
#define PMIX_BCAST_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* 0, or an errno value. */
int thread_start(pthread_t *t, void *(*run)(void *), void *arg);
/* CPUs that this process may use, by sched_getaffinity(2); 1 if it cannot say. */
unsigned thread_cpus(void);

#define THREADS_MAX  8u  /* of an agent that receives, its loop's with them */
#define THREADS_AUTO 15u /* as many as the work needs, and its CPUs allow */

/* How many threads there may be beside the loop's, if so many are wished for in all
 * (0: as 1); and how many there are whatever there is to do.  Pure. */
unsigned threads_beside(unsigned wish, unsigned cpus);
unsigned threads_at_once(unsigned wish, unsigned cpus);
/* "auto" or 1 to THREADS_MAX, as users write it; 0 if it is neither.  And back, in
 * text. */
unsigned threads_read(const char *text);
const char *threads_write(char text[8], unsigned wish);

#endif
