/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.c - an MPI program with OpenMP threads that reports its progress and
 * follows the advice how many threads to use: an example of the actuator
 * "threads".
 *
 *     mpicc -O2 -fopenmp -o rows rows.c -levenstep
 *     srun -N4 --mpi=pmix --evenstep-power=pair ./rows ROWS ITERATIONS
 *
 * In every iteration rank r does ROWS * (1 + r / 2) rows, then all ranks meet in
 * a barrier.  With power { actuator = "threads" cap = 0.5 } in the
 * configuration each rank begins with half of its threads.  Ranks that come last
 * are then advised to use more, and those that come first to use as many less.
 * Without evenstep every rank uses what OpenMP gives it.
 */
#include <evenstep.h>

#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 20000 /* of a row */

static double compute(long row)
{
    double sum = 0;

    for (long i = 0; i < CELLS; i++)
        sum += 1.0 / (double)(row + i + 1);
    return sum;
}

/* A parallel region: each thread reports its own part of the rows. */
static double iterate(long rows)
{
    double sum = 0;

#pragma omp parallel reduction(+ : sum)
    {
        long threads = omp_get_num_threads(), self = omp_get_thread_num();
        long begin = rows * self / threads, end = rows * (self + 1) / threads;

        evenstep_work((uint64_t)(end - begin));
        for (long row = begin; row < end; row++) {
            sum += compute(row);
            evenstep_tick((uint64_t)(row - begin + 1));
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    long rows = argc > 1 ? atol(argv[1]) : 100;
    long iterations = argc > 2 ? atol(argv[2]) : 10;
    int rank, threads = omp_get_max_threads();
    double sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (long i = 0; i < iterations; i++) {
        if (evenstep_threads() > 0) /* between two regions */
            threads = evenstep_threads();
        omp_set_num_threads(threads);
        sum = iterate(rows + rows * rank / 2);
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
    }
    printf("rank %d: %d threads at last, sum %.6f\n", rank, threads, sum);
    MPI_Finalize();
    return 0;
}
