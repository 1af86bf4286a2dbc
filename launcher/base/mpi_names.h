/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_names.h - numbers of MPI's calls, as the meter page and the messages have
 * them, with their names and what they are for.
 *
 * Not to be included beside an mpi.h, which has an MPI_IO of its own.
 */
#ifndef LAUNCHER_BASE_MPI_NAMES_H
#define LAUNCHER_BASE_MPI_NAMES_H

#include "launcher/base/mpi_calls.h"

#include <stdint.h>

#define MPI_NUMBER_OF(name, ...) MPI_NUMBER_##name,
enum mpi_number { MPI_CALLS(MPI_NUMBER_OF, MPI_NUMBER_OF) MPI_NUMBERS };

enum mpi_class { MPI_P2P, MPI_COLLECTIVE, MPI_IO, MPI_RMA, MPI_MANAGE };

/* "MPI_Allreduce"; NULL for MPI_NUMBERS and above. */
const char *mpi_call_name(uint32_t number);
/* MPI_MANAGE for MPI_NUMBERS and above. */
enum mpi_class mpi_call_class(uint32_t number);

#endif
