/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_threads.h - divides the threads that a node is advised to use among its
 * ranks, by the work that each has: evenstep_threads() tells a rank its own.
 *
 * A rank is a process that owns slots of the meter page.  While nothing is known
 * of their work all have as many, and when ranks come or go, again.  No rank is
 * advised to use more threads than it is pinned to CPUs, unless its OpenMP
 * runtime pins them: then what its first thread may use says nothing.
 */
#ifndef LAUNCHER_AGENT_RANK_THREADS_H
#define LAUNCHER_AGENT_RANK_THREADS_H

#include "launcher/libevenstep/meter_page.h"

#include <sys/types.h>

struct rank_threads;

/* How many CPUs a process may use; 0: that is not known. */
typedef unsigned (*rank_threads_cpus_fn)(pid_t pid);

/* page must outlive it; cpus is rank_threads_cpus() but for tests.  NULL if
 * memory ran out. */
struct rank_threads *rank_threads_create(struct meter_page *page,
                                         rank_threads_cpus_fn cpus);
unsigned rank_threads_cpus(pid_t pid);
/* The node will have so many ranks, at least; until they have all come the
 * others leave them their part. */
void rank_threads_expect(struct rank_threads *t, uint32_t ranks);
/* So many threads for the node; 0: each as it likes. */
void rank_threads_set(struct rank_threads *t, uint32_t threads, int64_t now_ns);
/* Look how they get on: every few ms. */
void rank_threads_look(struct rank_threads *t, int64_t now_ns);
/* NULL is allowed. */
void rank_threads_destroy(struct rank_threads *t);

#endif
