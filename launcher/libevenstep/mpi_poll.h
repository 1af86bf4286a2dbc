/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_poll.h - tests one after another that find nothing: is the time between
 * two of them useful?
 *
 * It is polling if it is short: a loop that does nothing else.  It is, too, if the
 * thread has slept for most of it.  Whether it has is asked for only where gaps
 * are long, from the second on.  In a loop that does nothing else a long one is
 * polling if the CPU was taken from the thread, as its CPU time tells: this is
 * looked at after every 32nd test.
 */
#ifndef LAUNCHER_LIBEVENSTEP_MPI_POLL_H
#define LAUNCHER_LIBEVENSTEP_MPI_POLL_H

#include "launcher/libevenstep/mpi_region.h"

struct mpi_poll {          /* of a thread; all zero: it has called nothing */
    int has_found_nothing; /* its last call was such a test */
    int is_slow;           /* with long gaps */
    unsigned shorts;       /* gaps one after another that were short */
    long switches;         /* to others, when it slept, until that test ended */
    uint64_t cpu_ns, at_ns; /* its CPU time, at that time */
};

/* A call of this thread begins, a test or not, so long after the last one. */
enum mpi_gap mpi_poll_begin(struct mpi_poll *poll,
                            int is_test,
                            uint64_t now_ns,
                            uint64_t gap_ns);
/* It has ended; found: 0 if it was a test that found nothing. */
void mpi_poll_end(struct mpi_poll *poll, uint64_t now_ns, int found);

#endif
