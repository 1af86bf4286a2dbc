/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_region.h - how the time of a rank goes: useful or waiting, and from one
 * collective over all ranks to the next.
 *
 * Pure.  A region is the time between two such collectives; its work is the
 * useful time in it.  What a region will take is expected to be the median of
 * the last MPI_REGION_LAST, so that a checkpoint or a re-build of lists every
 * tenth iteration does not spoil it.
 */
#ifndef LAUNCHER_LIBEVENSTEP_MPI_REGION_H
#define LAUNCHER_LIBEVENSTEP_MPI_REGION_H

#include <stdint.h>

#define MPI_REGION_LAST 5u /* enough to outvote two; sorted in some ns */

/* How the time since the last call went: in doubt it was useful. */
enum mpi_gap { MPI_GAP_USEFUL, MPI_GAP_UNSURE, MPI_GAP_POLLED };

/* What a call was, now that it has ended. */
enum mpi_end {
    MPI_END_CALL,
    MPI_END_REGION,  /* a collective over all ranks */
    MPI_END_IO,      /* a read or write of its own */
    MPI_END_NOTHING, /* a test that found nothing */
};

struct mpi_region {
    int is_waiting;
    uint64_t since_ns;              /* when that began or ended */
    uint64_t useful_ns, waiting_ns; /* until then */
    uint64_t io_ns, polled_ns;      /* of waiting_ns */
    uint64_t unsure_ns;             /* of useful_ns */
    uint64_t calls, regions;        /* calls but for tests that found nothing */
    uint64_t began_ns;              /* useful_ns when this region began */
    uint64_t waited_ns;             /* in the last call that ended a region */
    uint64_t expected_ns; /* of useful time in this region; 0: not known */
    uint64_t last_ns[MPI_REGION_LAST]; /* useful time of region r at r % LAST */
};

void mpi_region_start(struct mpi_region *r, uint64_t now_ns);
/* A call that waits begins, and ends.  idle_ns: of the time before it, the thread
 * was seen to wait outside MPI for threads that waited in MPI. */
void mpi_region_wait(struct mpi_region *r,
                     uint64_t now_ns,
                     enum mpi_gap gap,
                     uint64_t idle_ns);
/* busy_ns: of the time in the call another thread of the rank computed. */
void mpi_region_resume(struct mpi_region *r,
                       uint64_t now_ns,
                       enum mpi_end end,
                       uint64_t busy_ns);

/* Useful time in this region until since_ns. */
uint64_t mpi_region_useful(const struct mpi_region *r);
/* How much of expected_ns is done: all only where nothing is left to do, as the
 * rank waits in the collective that ends the region. */
uint64_t mpi_region_done(const struct mpi_region *r, int is_over);

#endif
