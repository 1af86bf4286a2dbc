/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_pingpong: two ranks.  Rank 0 prints the nanoseconds of a message of 8 bytes
 * one way, and of a call that has nothing to wait for; each the least of some
 * runs, as other work may disturb one.
 */
#include <mpi.h>
#include <stdio.h>

#define RUNS  50
#define TURNS 5000   /* of a run */
#define CALLS 100000 /* of a run */

static double turns(int rank)
{
    double began = MPI_Wtime();
    long word = 0;

    for (int i = 0; i < TURNS; i++)
        if (rank == 0) {
            MPI_Send(&word, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(&word, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&word, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Send(&word, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    return (MPI_Wtime() - began) / TURNS / 2;
}

static double calls(int rank)
{
    double began = MPI_Wtime();
    MPI_Request none = MPI_REQUEST_NULL;

    (void)rank;
    for (int i = 0; i < CALLS; i++)
        MPI_Wait(&none, MPI_STATUS_IGNORE);
    return (MPI_Wtime() - began) / CALLS;
}

static double least(double (*run)(int rank), int rank)
{
    double best = run(rank);

    for (int i = 1; i < RUNS; i++) {
        double took;

        MPI_Barrier(MPI_COMM_WORLD);
        took = run(rank);
        if (took < best)
            best = took;
    }
    return best;
}

int main(int argc, char **argv)
{
    double message, call;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    message = least(turns, rank);
    call = least(calls, rank);
    if (rank == 0)
        printf("%.1f %.1f\n", message * 1e9, call * 1e9);
    MPI_Finalize();
    return 0;
}
