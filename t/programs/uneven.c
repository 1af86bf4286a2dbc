/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uneven REGIONS MILLISECONDS W0,W1,... [RANK REGION]: an MPI program that
 * knows nothing of evenstep.  Rank r computes for W_r * MILLISECONDS of CPU
 * time in each region, as it was calibrated on the spot, which an
 * MPI_Allreduce ends.  Rank 0 prints a line a region: its seconds.
 *
 * In the middle of that region, and until its end, that rank's node does
 * something else, too: a second process takes CPU time.  Since when is told on
 * stderr, by the clock of the day.
 */
#include "calibrated.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECES 200

static pid_t burn(void)
{
    pid_t pid = fork();
    struct timespec now;

    if (pid == 0) {
        alarm(60); /* whatever becomes of the rank */
        for (;;)
            compute(1000000);
    }
    clock_gettime(CLOCK_REALTIME, &now);
    fprintf(stderr, "slow from %.3f\n",
            (double)now.tv_sec + (double)now.tv_nsec / 1e9);
    return pid;
}

static void region(double loops, int burns)
{
    pid_t pid = -1;

    for (int i = 0; i < PIECES; i++) {
        if (burns && i == PIECES / 2)
            pid = burn();
        compute((long)(loops / PIECES));
    }
    if (pid > 0) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
    }
}

int main(int argc, char **argv)
{
    int rank, regions = argc > 1 ? atoi(argv[1]) : 10;
    int burner = argc > 4 ? atoi(argv[4]) : -1;
    int when = argc > 5 ? atoi(argv[5]) : -1;
    double speed, fastest, loops, began;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    speed = calibrate();
    MPI_Allreduce(&speed, &fastest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    loops = fastest * atof(argc > 2 ? argv[2] : "100") / 1e3
            * work_of(argc > 3 ? argv[3] : "1", rank);
    began = MPI_Wtime();
    for (int i = 0; i < regions; i++) {
        double mine = i, all;

        region(loops, rank == burner && i == when);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) {
            printf("%d %.3f\n", i, MPI_Wtime() - began);
            fflush(stdout);
        }
        began = MPI_Wtime();
    }
    MPI_Finalize();
    return 0;
}
