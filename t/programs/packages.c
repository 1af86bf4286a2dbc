/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packages TREE SECONDS W0,W1,... FILE: an MPI program and the CPUs that it runs on.
 * Rank r has a package to itself, TREE/HOST/class/powercap/intel-rapl:LOCALID: it
 * is as fast as that one's limit makes it, P = idle + k f^3.  At full power a
 * region takes rank r W_r * SECONDS, and who waits in the MPI_Allreduce that ends
 * it uses its limit.  What a package uses, by the clock, is counted in its energy_uj
 * all the time, where there is one.
 *
 * Rank 0 prints a line a region: its seconds and the joules of all packages by the
 * model, and how long it took and what was counted.  It ends when FILE is there.
 */
#include "calibrated.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define IDLE        0.2  /* of the most power */
#define COUNT_EVERY 0.02 /* seconds */

static char zone[512];
static int counts; /* there is a counter */
static double used_uj, counted_until;

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

/* What is used at so many microwatts since the last call. */
static void count(double uw)
{
    double now = MPI_Wtime();

    used_uj += uw * (now - counted_until);
    counted_until = now;
    if (counts)
        write_counter((uint64_t)used_uj);
}

static void work_for(double seconds, double uw)
{
    double end = MPI_Wtime() + seconds, left;

    while ((left = end - MPI_Wtime()) > 0) {
        usleep((useconds_t)(1e6 * fmin(left, COUNT_EVERY)));
        count(uw);
    }
}

int main(int argc, char **argv)
{
    const char *local = getenv("SLURM_LOCALID");
    uint64_t most_uw, counter;
    int rank, goes_on = 1;
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
    if (counts)
        used_uj = (double)counter;
    if (read_file("constraint_0_max_power_uw", &most_uw) < 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    counted_until = MPI_Wtime();
    while (goes_on) {
        double uw = limit(), began = counted_until, before = used_uj;
        double took = work / cbrt((uw / (double)most_uw - IDLE) / (1 - IDLE));
        double longest, of_one[2], all[2]; /* joules: by the model, counted */

        work_for(took, uw);
        MPI_Allreduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        count(uw);
        of_one[0] = uw * longest / 1e6;
        of_one[1] = (used_uj - before) / 1e6;
        MPI_Reduce(of_one, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%.4f %.3f %.4f %.3f\n", longest, all[0],
                   counted_until - began, all[1]),
                fflush(stdout);
        goes_on = access(argv[4], F_OK) < 0;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
