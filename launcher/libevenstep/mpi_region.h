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

struct mpi_region {
    int is_waiting;
    uint64_t since_ns;              /* when that began or ended */
    uint64_t useful_ns, waiting_ns; /* until then */
    uint64_t calls, regions;
    uint64_t began_ns;    /* useful_ns when this region began */
    uint64_t waited_ns;   /* in the last call that ended a region */
    uint64_t expected_ns; /* of useful time in this region; 0: not known */
    uint64_t last_ns[MPI_REGION_LAST]; /* useful time of region r at r % LAST */
};

void mpi_region_start(struct mpi_region *r, uint64_t now_ns);
/* A call that waits begins, and ends; ends_region != 0 if it is a collective
 * over all ranks. */
void mpi_region_wait(struct mpi_region *r, uint64_t now_ns);
void mpi_region_resume(struct mpi_region *r, uint64_t now_ns, int ends_region);

/* Useful time in this region until since_ns. */
uint64_t mpi_region_useful(const struct mpi_region *r);
/* How much of expected_ns is done: all only where nothing is left to do, as the
 * rank waits in the collective that ends the region. */
uint64_t mpi_region_done(const struct mpi_region *r, int is_over);

#endif
