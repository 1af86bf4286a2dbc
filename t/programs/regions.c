/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * regions ITERATIONS MILLISECONDS W0,W1,...: parallel regions between barriers,
 * metered.  Rank r computes for W_r * MILLISECONDS of CPU time in each, as it
 * was calibrated on the spot.  Rank 0 prints a line a region: its seconds, and
 * the part of all ranks' time that was waited at the barrier.
 */
#include "calibrated.h"
#include "launcher/libevenstep/evenstep.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define PIECES 200 /* of a rank's work 1.0, each followed by a tick */

static void region(uint64_t pieces, long loops)
{
    evenstep_work(pieces);
    for (uint64_t i = 0; i < pieces; i++) {
        compute(loops);
        evenstep_tick(i + 1);
    }
}

int main(int argc, char **argv)
{
    int rank, ranks, iterations = argc > 1 ? atoi(argv[1]) : 10;
    double speed, fastest;
    uint64_t pieces;
    long loops;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    speed = calibrate();
    MPI_Allreduce(&speed, &fastest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    loops = (long)(fastest * atof(argc > 2 ? argv[2] : "100") / 1e3 / PIECES);
    pieces = (uint64_t)(work_of(argc > 3 ? argv[3] : "1", rank) * PIECES);
    for (int i = 0; i < iterations; i++) {
        double began, waited, took, all;

        MPI_Barrier(MPI_COMM_WORLD);
        began = MPI_Wtime();
        region(pieces, loops);
        waited = MPI_Wtime();
        MPI_Barrier(MPI_COMM_WORLD);
        took = MPI_Wtime() - began;
        waited = MPI_Wtime() - waited;
        MPI_Reduce(&waited, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0) {
            printf("%d %.3f %.3f\n", i, took, all / ranks / took);
            fflush(stdout);
        }
    }
    MPI_Finalize();
    return 0;
}
