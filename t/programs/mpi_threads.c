/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_threads HOW: an MPI program with two OpenMP threads a rank, one of which
 * works and one waits, as HOW says, in each of some regions that MPI_Barrier
 * ends.  Both work for as long in `even`, and only the first in `first`, or
 * only the other in `other`; in `barrier` the first does before a barrier, and
 * the other behind it; in `tasks` each of two tasks is of one thread.
 *
 * Work is a time in which the thread sleeps, so that it does not matter what
 * else the machine does.
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REGIONS 5
#define WORK_NS 40000000

static void work(void)
{
    struct timespec t = {.tv_nsec = WORK_NS};

    (void)nanosleep(&t, NULL);
}

static void even(void)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 2; i++)
        work();
}

static void dynamic(void)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < 3; i++)
        work();
}

static void one(int which)
{
#pragma omp parallel
    if (omp_get_thread_num() == which)
        work();
}

static void barrier(void)
{
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0)
            work();
#pragma omp barrier
        if (omp_get_thread_num() == 1)
            work();
    }
}

static void tasks(void)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        work();
#pragma omp task
        work();
    }
}

static void region(const char *how)
{
    if (!strcmp(how, "even"))
        even();
    else if (!strcmp(how, "dynamic"))
        dynamic();
    else if (!strcmp(how, "first"))
        one(0);
    else if (!strcmp(how, "other"))
        one(1);
    else if (!strcmp(how, "barrier"))
        barrier();
    else if (!strcmp(how, "tasks"))
        tasks();
    else
        work(); /* of no team */
}

int main(int argc, char **argv)
{
    int given, rank;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    omp_set_num_threads(2);
    for (int i = 0; i < REGIONS; i++) {
        region(argc > 1 ? argv[1] : "even");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        puts("done");
    MPI_Finalize();
    return 0;
}
