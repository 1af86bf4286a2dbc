/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_lend [REGIONS MILLISECONDS [TIMES]]: two ranks of a node, one pinned to the first
 * CPU, one to the second.  Rank 0 has two OpenMP threads.
 *
 * Without arguments rank 1 waits until the second thread of rank 0 may run on
 * its CPU, then does not wait in MPI until that is back, which is printed.
 * With arguments rank 0 has three TIMES the work of rank 1, which takes so long,
 * in each of the regions, and prints the seconds that they took.
 */
#include "calibrated.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PATIENCE_S 30.0
#define PIECES     60

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) < 0)
        perror("pin");
}

static int may_run_on(int cpu)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_ISSET(cpu, &set);
}

/* Until this thread may run there, and nowhere else. */
static int comes_to(int cpu)
{
    double until = MPI_Wtime() + PATIENCE_S;

    while (!may_run_on(cpu) && MPI_Wtime() < until)
        usleep(1000);
    return may_run_on(cpu) && !may_run_on(1 - cpu);
}

static void borrow(void)
{
    int is_lent = 0, is_back = 0, word = 0;

#pragma omp parallel num_threads(2)
    {
#pragma omp for schedule(static)
        for (int i = 0; i < 2; i++)
            if (i == 1)
                is_lent = comes_to(1);
#pragma omp master
        MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
#pragma omp for schedule(static)
        for (int i = 0; i < 2; i++)
            if (i == 1)
                is_back = comes_to(0);
    }
    MPI_Send(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    printf("lent %d, back %d\n", is_lent, is_back);
}

static void lend(void)
{
    int word, is_there = 0;

    MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (!is_there) { /* it has something to do */
        usleep(1000);
        MPI_Iprobe(0, 1, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    }
    MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void region(int rank, double loops, double times)
{
    if (rank == 1) {
        compute((long)loops);
    } else {
#pragma omp parallel for schedule(dynamic) num_threads(2)
        for (int i = 0; i < PIECES; i++)
            compute((long)(times * loops / PIECES));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static int rank_of_environment(void)
{
    const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};

    for (int i = 0; i < 3; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    return 0;
}

int main(int argc, char **argv)
{
    int given, rank, regions = argc > 2 ? atoi(argv[1]) : 0;
    double loops, began, times = argc > 3 ? atof(argv[3]) : 3;

    pin(rank_of_environment());
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (regions == 0) {
        if (rank == 0)
            borrow();
        else
            lend();
    }
    loops = regions > 0 ? calibrate() * atof(argv[2]) / 1e3 : 0;
    for (int i = 0; i < regions; i++) {
        began = MPI_Wtime();
        region(rank, loops, times);
        if (rank == 0)
            printf("%d %.4f\n", i, MPI_Wtime() - began);
    }
    MPI_Finalize();
    return 0;
}
