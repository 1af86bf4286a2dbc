/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packages TREE SECONDS W0,W1,... FILE: an MPI program and the CPUs that it runs on.
 * Rank r has a package to itself, TREE/HOST/class/powercap/intel-rapl:LOCALID: it
 * is as fast as that one's limit makes it, P = idle + k f^3, and what the
 * package uses meanwhile is counted there, where there is a counter.  At full
 * power a region takes rank r W_r * SECONDS, and who waits in the MPI_Allreduce
 * that ends it uses its limit.
 *
 * Rank 0 prints a line a region: its seconds and the joules of all packages.  It
 * ends when FILE is there.
 */
#include "calibrated.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define IDLE 0.2 /* of the most power */

static char zone[512];

static int read_file(const char *file, uint64_t *v)
{
    char path[600];
    FILE *f;
    int rc;

    snprintf(path, sizeof path, "%s/%s", zone, file);
    f = fopen(path, "r");
    rc = f && fscanf(f, "%" SCNu64, v) == 1 ? 0 : -1;
    if (f)
        fclose(f);
    return rc;
}

/* As a whole: whoever reads it meanwhile has the old number or the new one. */
static void write_counter(uint64_t v)
{
    char path[600], beside[600];
    FILE *f;

    snprintf(path, sizeof path, "%s/energy_uj", zone);
    snprintf(beside, sizeof beside, "%s/new", zone);
    f = fopen(beside, "w");
    if (!f || fprintf(f, "%" PRIu64 "\n", v) < 0 || fclose(f) != 0
        || rename(beside, path) < 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The guard may be about to write it. */
static double limit(void)
{
    uint64_t uw;

    for (int i = 0; i < 1000; i++) {
        if (read_file("constraint_0_power_limit_uw", &uw) == 0)
            return (double)uw;
        usleep(1000);
    }
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 0;
}

static void sleep_for(double seconds)
{
    struct timespec t = {(time_t)seconds,
                         (long)((seconds - (double)(time_t)seconds) * 1e9)};

    while (nanosleep(&t, &t) < 0 && errno == EINTR)
        ;
}

int main(int argc, char **argv)
{
    const char *local = getenv("SLURM_LOCALID");
    uint64_t most_uw, counter;
    int rank, counts, goes_on = 1;
    double work;
    char host[64];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 5 || gethostname(host, sizeof host) < 0)
        return 2;
    snprintf(zone, sizeof zone, "%s/%s/class/powercap/intel-rapl:%s", argv[1],
             host, local ? local : "0");
    work = atof(argv[2]) * work_of(argv[3], rank);
    counts = read_file("energy_uj", &counter) == 0;
    if (read_file("constraint_0_max_power_uw", &most_uw) < 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    while (goes_on) {
        double uw = limit(), most = (double)most_uw, joules, all, longest;
        double took = work / cbrt((uw / most - IDLE) / (1 - IDLE));

        sleep_for(took);
        MPI_Allreduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        joules = uw * longest / 1e6;
        if (counts)
            write_counter(counter += (uint64_t)(joules * 1e6));
        MPI_Reduce(&joules, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%.4f %.3f\n", longest, all), fflush(stdout);
        goes_on = access(argv[4], F_OK) < 0;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
