/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_hang HOW SECONDS: an MPI program that goes wrong after so long, in its last
 * rank: "recv", it waits for what nobody sends; "kill", it kills itself; "exit", it
 * exits with status 3; "long", it computes for 12 seconds, and all end well; "none",
 * nothing, it goes on for ever.  The others wait for it in MPI_Allreduce.
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void compute(double seconds)
{
    double began = MPI_Wtime();
    volatile double x = 0;

    while (MPI_Wtime() - began < seconds)
        x = x + 1;
}

static void go_wrong(const char *how)
{
    int none;

    if (strcmp(how, "recv") == 0)
        MPI_Recv(&none, 1, MPI_INT, 0, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(how, "kill") == 0)
        (void)raise(SIGKILL);
    if (strcmp(how, "exit") == 0)
        _exit(3);
    if (strcmp(how, "long") == 0)
        compute(12);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "none";
    double when = argc > 2 ? atof(argv[2]) : 1, began, now = 0;
    int rank, size, one = 1, all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    began = MPI_Wtime();
    do {
        compute(0.02);
        now = MPI_Wtime() - began;
        MPI_Bcast(&now, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (now > when && rank == size - 1)
            go_wrong(how);
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } while (now <= when || strcmp(how, "long") != 0);
    MPI_Finalize();
    return 0;
}
