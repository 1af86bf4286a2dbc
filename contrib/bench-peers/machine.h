/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * machine.h - the clock and the CPU time for the programs of
 * contrib/bench-bcast.
 */
#ifndef BENCH_PEERS_MACHINE_H
#define BENCH_PEERS_MACHINE_H

#include <err.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static inline double machine_time_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/*
 * CPU seconds that the whole machine has been busy since it started: user,
 * nice, system, irq and softirq of proc(5), in ticks of 10 ms.  Counting
 * processes would not do, as much of a packet's work belongs to none.
 */
static inline double machine_cpu_s(void)
{
    unsigned long long user, nice, system, irq, softirq;
    FILE *stat = fopen("/proc/stat", "re");

    if (!stat
        || fscanf(stat, "cpu %llu %llu %llu %*u %*u %llu %llu", &user, &nice,
                  &system, &irq, &softirq)
               != 5)
        errx(1, "/proc/stat is not as proc(5) says");
    fclose(stat);
    return (double)(user + nice + system + irq + softirq)
           / (double)sysconf(_SC_CLK_TCK);
}

#endif
