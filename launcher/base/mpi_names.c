/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/mpi_names.h"

#include <stddef.h>

#define NAME(name, fortran, n, class, kind, at)                                \
    [MPI_NUMBER_##name] = {"MPI_" #name, MPI_##class},
#define NAME_WITH_TEXTS(name, fortran, n, m, class)                            \
    [MPI_NUMBER_##name] = {"MPI_" #name, MPI_##class},

static const struct {
    const char *name;
    enum mpi_class class;
} calls[] = {MPI_CALLS(NAME, NAME_WITH_TEXTS)};

const char *mpi_call_name(uint32_t number)
{
    return number < MPI_NUMBERS ? calls[number].name : NULL;
}

enum mpi_class mpi_call_class(uint32_t number)
{
    return number < MPI_NUMBERS ? calls[number].class : MPI_MANAGE;
}
