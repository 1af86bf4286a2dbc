/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_sites.h - the places of a program from which MPI is called, and how long
 * each waits: in the meter page those that wait most.
 *
 * Of the metered thread only.  A call costs a look into a table; a place gets a
 * name when it comes into the page.
 */
#ifndef LAUNCHER_LIBEVENSTEP_MPI_SITES_H
#define LAUNCHER_LIBEVENSTEP_MPI_SITES_H

#include "launcher/libevenstep/meter_page.h"

/* This is the rank's entry. */
void mpi_sites_start(struct meter_rank *entry);

/*
 * A call with that number, made at that address, has taken so long, which
 * includes gap_ns of polling before it.  is_transfer: not if it waits for all
 * ranks, reads or writes a file, or has found nothing.
 */
void mpi_sites_add(const void *caller,
                   uint32_t number,
                   uint64_t took_ns,
                   uint64_t gap_ns,
                   int is_transfer);

/*
 * Of all that the calls took, the part that is not for others to come: of each
 * call the least that one has taken at its place, if there were several.
 */
uint64_t mpi_sites_transfer(void);

/* So much was waited in all; what is of no place in the page is "others". */
void mpi_sites_end(uint64_t waiting_ns);

#endif
