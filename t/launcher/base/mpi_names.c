/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of MPI's calls have a name each, and one beyond has none. */
#include "launcher/base/mpi_names.h"
#include "tap.h"

int main(void)
{
    unsigned named = 0;

    for (uint32_t i = 0; i < MPI_NUMBERS; i++) {
        const char *name = mpi_call_name(i);

        named += name && strncmp(name, "MPI_", 4) == 0
                 && mpi_call_class(i) <= MPI_MANAGE;
    }
    ok(MPI_NUMBERS > 200 && named == MPI_NUMBERS, "each has a name");
    is_str(mpi_call_name(MPI_NUMBER_Allreduce), "MPI_Allreduce", "its own");
    is_str(mpi_call_name(MPI_NUMBER_File_open), "MPI_File_open", "with texts");
    is_int(mpi_call_class(MPI_NUMBER_Recv), MPI_P2P, "and a class");
    is_int(mpi_call_class(MPI_NUMBER_File_open), MPI_IO, "with texts, too");
    ok(!mpi_call_name(MPI_NUMBERS) && !mpi_call_name(UINT32_MAX),
       "a number from nowhere has none");
    is_int(mpi_call_class(UINT32_MAX), MPI_MANAGE, "but some class");
    return done();
}
