/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_advised REGIONS W0,W1,...: ranks with as many OpenMP threads in each region
 * as evenstep_threads() says.  Rank r has W_r times the work of 1 in the first
 * half of the regions, and in the second half that of the last rank but r.  Each
 * rank prints its threads, and the seconds of all, of each region.
 *
 * Work is time in which a thread sleeps, so that it does not matter what else
 * the machine does, nor how many CPUs it has.
 */
#include "calibrated.h"
#include "launcher/libevenstep/evenstep.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PIECES   12 /* of a work of 1 */
#define PIECE_NS 5000000

static void region(int pieces, int threads)
{
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int i = 0; i < pieces; i++)
        nanosleep(&(struct timespec){0, PIECE_NS}, NULL);
}

int main(int argc, char **argv)
{
    int given, rank, ranks, regions = argc > 1 ? atoi(argv[1]) : 10;
    const char *work = argc > 2 ? argv[2] : "1";

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < regions; i++) {
        int of = i < regions / 2 ? rank : ranks - 1 - rank;
        int threads = evenstep_threads();
        double began = MPI_Wtime();

        region((int)(work_of(work, of) * PIECES), threads > 0 ? threads : 1);
        MPI_Barrier(MPI_COMM_WORLD);
        printf("rank %d region %d threads %d seconds %.3f\n", rank, i, threads,
               MPI_Wtime() - began);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
