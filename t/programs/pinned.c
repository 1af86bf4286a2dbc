/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pinned ITERATIONS MILLISECONDS W0,W1,...: as regions, by threads of one process
 * instead of ranks.  Thread i is pinned to the i-th CPU that there is and meters
 * itself.  Who waits spins: else a limit of its own would give the others nothing.
 * The first prints a line a region: its seconds.
 */
#include "calibrated.h"
#include "launcher/libevenstep/evenstep.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PIECES      200 /* of a thread's work 1.0, each followed by a tick */
#define THREADS_MAX 64

static atomic_uint arrived, rounds;
static unsigned threads = 1;
static int iterations;
static long loops;
static const char *work;

/* Until all are here. */
static void meet(void)
{
    unsigned round = atomic_load(&rounds);

    if (atomic_fetch_add(&arrived, 1) + 1 == threads) {
        atomic_store(&arrived, 0);
        atomic_fetch_add(&rounds, 1);
    } else {
        while (atomic_load(&rounds) == round)
            ;
    }
}

static void pin(int i)
{
    cpu_set_t all, one;

    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof all, &all) < 0)
        exit(1);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && i-- == 0)
            CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) < 0)
        exit(1);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *run(void *arg)
{
    int number = (int)(intptr_t)arg;
    uint64_t pieces = (uint64_t)(work_of(work, number) * PIECES);

    for (int k = 0; k < iterations; k++) {
        double began;

        meet();
        began = now();
        evenstep_work(pieces);
        for (uint64_t i = 0; i < pieces; i++) {
            compute(loops);
            evenstep_tick(i + 1);
        }
        meet();
        if (number == 0) {
            printf("%d %.3f\n", k, now() - began);
            fflush(stdout);
        }
    }
    return NULL;
}

static void *run_pinned(void *arg)
{
    pin((int)(intptr_t)arg);
    return run(arg);
}

int main(int argc, char **argv)
{
    pthread_t other;

    if (argc != 4)
        return 2;
    iterations = atoi(argv[1]);
    work = argv[3];
    for (const char *at = work; (at = strchr(at, ',')) != NULL; at++)
        threads++;
    if (threads > THREADS_MAX)
        return 2;
    loops = (long)(calibrate() * atof(argv[2]) / 1e3 / PIECES);
    for (unsigned i = 1; i < threads; i++)
        if (pthread_create(&other, NULL, run_pinned, (void *)(intptr_t)i) != 0)
            return 1;
    pin(0); /* only now: the others begin with the CPUs of this one */
    run(NULL);
    return 0;
}
