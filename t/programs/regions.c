/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * regions ITERATIONS MILLISECONDS W0,W1,...: parallel regions between barriers,
 * metered.  Rank r computes for W_r * MILLISECONDS of CPU time in each, as it
 * was calibrated on the spot.  Rank 0 prints a line a region: its seconds, and
 * the part of all ranks' time that was waited at the barrier.
 */
#include "launcher/libevenstep/evenstep.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PIECES 200 /* of a rank's work 1.0, each followed by a tick */

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void compute(long loops)
{
    volatile double x = 1;

    for (long i = 0; i < loops; i++)
        x = x * 1.0000001 + 1e-9;
}

/* Loops a second of CPU time: the best of some, as others may be in the way. */
static double calibrate(void)
{
    double best = 0;

    for (int i = 0; i < 20; i++) {
        double began = cpu_seconds(), took;

        compute(2000000);
        took = cpu_seconds() - began;
        if (2000000 / took > best)
            best = 2000000 / took;
    }
    return best;
}

static double work_of(const char *list, int rank)
{
    for (; rank > 0 && strchr(list, ','); rank--)
        list = strchr(list, ',') + 1;
    return atof(list);
}

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
