/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures the cost of the progress meter: the CPU time of a tick, by one thread
 * and by one on each CPU, and the load of the monitor that samples 64 threads
 * every 10 ms, in percent of a core.
 */
#include "launcher/agent/monitor.h"
#include "launcher/base/step_dir.h"
#include "launcher/libevenstep/evenstep.h"

#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICKS   UINT64_C(100000000)
#define RUNS    5
#define SLOTS   64
#define WATCH_S 10
#define BUSY_US 5000 /* between two ticks of a thread that is watched */

static double cpu_ns(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t); /* cannot fail for these clocks */
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The best of some runs, as other work may disturb one. */
static void *ticks(void *arg)
{
    double *best = arg;

    for (int run = 0; run < RUNS; run++) {
        double began = cpu_ns(CLOCK_THREAD_CPUTIME_ID), took;

        evenstep_work(TICKS);
        for (uint64_t i = 1; i <= TICKS; i++)
            evenstep_tick(i);
        took = (cpu_ns(CLOCK_THREAD_CPUTIME_ID) - began) / (double)TICKS;
        if (run == 0 || took < *best)
            *best = took;
    }
    return NULL;
}

static int time_ticks(long threads)
{
    pthread_t *thread = calloc((size_t)threads, sizeof *thread);
    double *best = calloc((size_t)threads, sizeof *best), worst = 0;
    int rc = thread && best ? 0 : -1;

    for (long i = 0; rc == 0 && i < threads; i++)
        rc = pthread_create(&thread[i], NULL, ticks, &best[i]) == 0 ? 0 : -1;
    for (long i = 0; rc == 0 && i < threads; i++) {
        (void)pthread_join(thread[i], NULL);
        worst = best[i] > worst ? best[i] : worst;
    }
    if (rc == 0)
        printf("tick, %ld threads: %.2f ns\n", threads, worst);
    free(thread);
    free(best);
    return rc;
}

/* --- the monitor ---------------------------------------------------------- */

__attribute__((noreturn)) static void *busy(void *arg)
{
    static const struct timespec nap = {.tv_nsec = BUSY_US * 1000};

    (void)arg;
    for (;;) {
        evenstep_work(100);
        for (uint64_t i = 1; i <= 100; i++) {
            evenstep_tick(i);
            (void)nanosleep(&nap, NULL);
        }
    }
}

/* A process of its own, so that only the monitor's time is measured. */
static pid_t start_busy(void)
{
    pid_t pid = fork();
    pthread_t thread;

    for (int i = 0; pid == 0 && i < SLOTS; i++)
        if (pthread_create(&thread, NULL, busy, NULL) != 0)
            _exit(1);
    while (pid == 0)
        (void)pause();
    return pid;
}

static unsigned long records;
static struct msg_progress last;

static void on_record(void *arg, const struct msg_progress *record)
{
    (void)arg;
    records++;
    last = *record;
}

static void watch(struct event_base *base)
{
    struct timeval tv = {WATCH_S, 0};
    double began, took;

    (void)event_base_loopexit(base, &tv);
    began = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    (void)event_base_dispatch(base);
    took = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - began;
    printf("monitor, %u slots every %d ms: %.2f %% of a core, %lu records in "
           "%d s\n",
           last.slots, INTERVAL_MS, took / WATCH_S / 1e7, records, WATCH_S);
}

int main(void)
{
    struct event_base *base = event_base_new();
    struct msg_monitor order = {.interval_ms = INTERVAL_MS,
                                .aggregate = AGGREGATE_MIN};
    struct monitor *monitor = NULL;
    struct es_error err = {0};
    char dir[STEP_PATH_MAX];
    int rc = -1;

    snprintf(order.dir, sizeof order.dir, "bench-%d", (int)getpid());
    if (base)
        monitor = monitor_start(base, &order, on_record, NULL, &err);
    if (monitor && step_dir_path(dir, order.dir, "") == 0) {
        pid_t pid;

        setenv("EVENSTEP_DIR", dir, 1);
        pid = start_busy();
        watch(base);
        if (pid > 0) {
            (void)kill(pid, SIGKILL);
            (void)waitpid(pid, NULL, 0);
        }
        rc = time_ticks(1);
        if (rc == 0)
            rc = time_ticks(sysconf(_SC_NPROCESSORS_ONLN));
    }
    monitor_stop(monitor);
    step_dir_remove(order.dir);
    if (base)
        event_base_free(base);
    return rc == 0 ? 0 : 1;
}
