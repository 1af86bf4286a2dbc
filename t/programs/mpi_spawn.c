/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_spawn: ranks that start another one in the middle, by MPI_Comm_spawn, with
 * what they have preloaded; it doubles a number and leaves, and they go on.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void be_child(MPI_Comm parent)
{
    int number;

    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(&number, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
    number *= 2;
    MPI_Send(&number, 1, MPI_INT, 0, 0, parent);
    MPI_Comm_disconnect(&parent);
}

static void be_parent(const char *program)
{
    const char *preload = getenv("LD_PRELOAD");
    char word[8192], own[4096], *words[] = {word, own, NULL};
    MPI_Comm child;
    int rank, number = 21;

    snprintf(word, sizeof word, "LD_PRELOAD=%s", preload ? preload : "");
    snprintf(own, sizeof own, "%s", program);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_spawn("env", words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child,
                   MPI_ERRCODES_IGNORE);
    if (rank == 0) {
        MPI_Send(&number, 1, MPI_INT, 0, 0, child);
        MPI_Recv(&number, 1, MPI_INT, 0, 0, child, MPI_STATUS_IGNORE);
        printf("the child says %d\n", number);
    }
    MPI_Comm_disconnect(&child);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;

    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        be_child(parent);
    else
        be_parent(argv[0]);
    MPI_Finalize();
    return 0;
}
