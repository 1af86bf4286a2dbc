/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * omp_pinned HOW REGIONS MILLISECONDS W0,W1,...: an MPI program with OpenMP that
 * knows nothing of evenstep.  Thread i of a team of as many as there are Ws
 * computes for W_i * MILLISECONDS of CPU time, as it was calibrated on the spot, in
 * each region, which MPI_Barrier ends.  Rank 0 prints a line a region: its seconds.
 *
 * HOW is "regions"; or "later": from the middle on each thread has a team of its
 * own, one of which does the work.
 */
#include "calibrated.h"

#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *work;
static double loops; /* of work 1 */

static void compute_as(int number)
{
    compute((long)(loops * work_of(work, number)));
}

static void nest(void)
{
    int own = omp_get_thread_num();

#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        compute_as(own);
}

static void region(int threads, int is_nested)
{
#pragma omp parallel num_threads(threads)
    if (is_nested)
        nest();
    else
        compute_as(omp_get_thread_num());
}

int main(int argc, char **argv)
{
    int given, rank, regions, threads = 1;
    double began;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 5)
        return 2;
    omp_set_max_active_levels(2);
    regions = atoi(argv[2]);
    work = argv[4];
    for (const char *at = work; (at = strchr(at, ',')) != NULL; at++)
        threads++;
    loops = calibrate() * atof(argv[3]) / 1e3;
    began = omp_get_wtime();
    for (int i = 0; i < regions; i++) {
        region(threads, !strcmp(argv[1], "later") && i >= regions / 2);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            printf("%d %.3f\n", i, omp_get_wtime() - began);
        (void)fflush(stdout);
        began = omp_get_wtime();
    }
    MPI_Finalize();
    return 0;
}
