/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uneven REGIONS MILLISECONDS W0,W1,... [RANK REGION]: an MPI program that
 * knows nothing of evenstep.  Rank r computes for W_r * MILLISECONDS of CPU
 * time in each region, as it was calibrated on the spot, which an
 * MPI_Allreduce ends.  Rank 0 prints a line a region: its seconds.
 *
 * In the middle of that region, and until its end, that rank's node does
 * something else, too: a second process takes CPU time.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIECES 200

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

static pid_t burn(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        alarm(60); /* whatever becomes of the rank */
        for (;;)
            compute(1000000);
    }
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
