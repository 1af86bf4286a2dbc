/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * harmless KIND SECONDS: a program of four nodes that steering must not make
 * slower.  A rank computes for SECONDS of CPU time, as the mean of all, by its
 * CPU's clock, so that neither the machine's speed nor its load changes the
 * work; MPI_Allreduce ends each region.  Rank 0 prints the seconds of the loop.
 * Nodes have as many ranks each; the work is by nodes:
 *
 *   balanced  80 regions, all alike
 *   moves     40 regions, in each quarter of them another node has 1.6
 *   writer    8 times: rank 0 writes for a second, then 5 regions, all alike
 *   long      4 regions, 1, 1, 1, 1.6
 *   skew40    40 regions, 1, 1, 1, 1.6
 *   skew120   120 regions, 1, 1, 1, 1.6
 *   pairs     as balanced, for two ranks a node
 *   phases    rank 0 writes for 0.1 s twenty times, then 60 regions, all alike
 *   halo      120 iterations, 1, 1, 1, 1.6, each with messages to both
 *             neighbours and no call of all ranks
 *
 * To write is 4 KiB and fsync, and a sleep of 10 ms: time that is not CPU's.
 */
#include "calibrated.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NODES 4
#define FIRST 1.6 /* the work of who has more */

static int rank, ranks;
static double seconds_cpu; /* of a rank in all of its regions */

/* Of the rank's node, in region i of n; `last` has more, if it is one. */
static void compute_part(int regions, int last)
{
    double mean = last >= 0 ? (NODES - 1 + FIRST) / NODES : 1;
    double end;
    int node = rank / (ranks >= NODES ? ranks / NODES : 1);

    end = cpu_seconds()
          + seconds_cpu / regions * (node == last ? FIRST : 1) / mean;
    while (cpu_seconds() < end)
        compute(3000);
}

static void meet(void)
{
    double mine = rank, all;

    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void regions(int from, int until, int all, int last)
{
    for (int i = from; i < until; i++) {
        compute_part(all, last);
        meet();
    }
}

/* Rank 0 alone, into a file that has no name any more. */
static void write_for(double seconds)
{
    static const struct timespec nap = {.tv_nsec = 10000000};
    double end = MPI_Wtime() + seconds;
    char name[] = "/tmp/harmless.XXXXXX", block[4096] = "";
    int fd;

    if (rank != 0)
        return;
    fd = mkstemp(name);
    if (fd < 0 || unlink(name) != 0) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    while (MPI_Wtime() < end) {
        if (pwrite(fd, block, sizeof block, 0) < 0 || fsync(fd) != 0) {
            perror("write");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        nanosleep(&nap, NULL);
    }
    close(fd);
}

static void balanced(void)
{
    regions(0, 80, 80, -1);
}

static void moves(void)
{
    for (int quarter = 0; quarter < NODES; quarter++)
        regions(quarter * 10, quarter * 10 + 10, 40, quarter);
}

static void writer(void)
{
    for (int i = 0; i < 8; i++) {
        write_for(1);
        meet();
        regions(i * 5, i * 5 + 5, 40, -1);
    }
}

static void long_regions(void)
{
    regions(0, 4, 4, NODES - 1);
}

static void skew40(void)
{
    regions(0, 40, 40, NODES - 1);
}

static void skew120(void)
{
    regions(0, 120, 120, NODES - 1);
}

static void phases(void)
{
    for (int i = 0; i < 20; i++) {
        write_for(0.1);
        meet();
    }
    regions(0, 60, 60, -1);
}

static void halo(void)
{
    int to[2] = {(rank + 1) % ranks, (rank + ranks - 1) % ranks};
    double mine[1024] = {0}, theirs[2][1024];

    for (int i = 0; i < 120; i++) {
        MPI_Request request[4];

        compute_part(120, NODES - 1);
        for (int k = 0; k < 2; k++)
            MPI_Irecv(theirs[k], 1024, MPI_DOUBLE, to[k], 1 - k, MPI_COMM_WORLD,
                      &request[k]);
        for (int k = 0; k < 2; k++)
            MPI_Isend(mine, 1024, MPI_DOUBLE, to[k], k, MPI_COMM_WORLD,
                      &request[2 + k]);
        MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = {{"balanced", balanced}, {"moves", moves},   {"writer", writer},
             {"long", long_regions}, {"skew40", skew40}, {"skew120", skew120},
             {"pairs", balanced},    {"phases", phases}, {"halo", halo}};

int main(int argc, char **argv)
{
    size_t kind = 0;
    double began;

    while (argc == 3 && kind < sizeof kinds / sizeof *kinds
           && strcmp(argv[1], kinds[kind].name) != 0)
        kind++;
    if (argc != 3 || kind == sizeof kinds / sizeof *kinds) {
        fputs("usage: harmless KIND SECONDS\n", stderr);
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    seconds_cpu = atof(argv[2]);
    MPI_Barrier(MPI_COMM_WORLD);
    began = MPI_Wtime();
    kinds[kind].run();
    if (rank == 0)
        printf("%s %.3f\n", kinds[kind].name, MPI_Wtime() - began);
    MPI_Finalize();
    return 0;
}
