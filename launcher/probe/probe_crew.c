/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_crew.h"
#include "launcher/probe/probe_rate.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A thread that does nothing for so long stands still: a batch takes some 10
 * to 50 us. */
#define STILL_NS 1000000

#define MARKS 4096 /* for each thread: one in 61 us at 250 ms, 64 KiB */

struct crew;

struct worker {
    struct crew *crew;
    pthread_t thread;
    size_t number;
    unsigned cpu;
    struct probe_mark mark[MARKS + 1];
    size_t n;
    uint64_t units; /* in all */
    int64_t cpu_ns; /* of CPU time for them */
};

struct crew {
    const struct probe_work *work;
    struct worker *worker;
    size_t n;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t ready, unable; /* workers that prepared, and that could not */
    int64_t until_ns;     /* for preparing */
    int64_t end_ns;       /* 0: wait; < 0: end */
    int64_t step_ns;
    int64_t enough_ns; /* then it ends, unless a thread has stood still */
    atomic_int stood_still;
};

static int64_t clock_ns(clockid_t clock)
{
    struct timespec ts;

    (void)clock_gettime(clock, &ts); /* fails for a bad id only */
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t probe_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* --- in a worker's thread ------------------------------------------------- */

/* If the CPU has gone meanwhile, the result is only less certain. */
static void stay_on(unsigned cpu)
{
    cpu_set_t *set = CPU_ALLOC(cpu + 1);
    size_t size = CPU_ALLOC_SIZE(cpu + 1);

    if (!set)
        return;
    CPU_ZERO_S(size, set);
    CPU_SET_S(cpu, size, set);
    (void)sched_setaffinity(0, size, set);
    CPU_FREE(set);
}

static int prepare_worker(struct worker *me)
{
    const struct probe_work *work = me->crew->work;

    if (work->bound)
        stay_on(me->cpu);
    if (!work->prepare)
        return 0;
    return work->prepare(work->arg, me->number, me->crew->until_ns);
}

/* Is it over at "now", the end of a batch that began at "then"? */
static int has_enough(struct crew *crew, int64_t then, int64_t now)
{
    if (now - then > STILL_NS)
        atomic_store(&crew->stood_still, 1);
    return now > crew->enough_ns && !atomic_load(&crew->stood_still);
}

/* Batches until "end_ns", or enough of them, with a mark each step. */
static void do_batches(struct worker *me, int64_t end_ns)
{
    const struct probe_work *work = me->crew->work;
    int64_t now = probe_now_ns(), next = now, then;

    while (me->n <= MARKS && next < end_ns) {
        if (now >= next) {
            me->mark[me->n].ns = now;
            me->mark[me->n++].units = me->units;
            next = now + me->crew->step_ns;
        }
        me->units += work->batch(work->arg, me->number);
        then = now;
        now = probe_now_ns();
        if (has_enough(me->crew, then, now))
            return;
    }
}

static void do_work(struct worker *me, int64_t end_ns)
{
    const struct probe_work *work = me->crew->work;
    int64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    do_batches(me, end_ns);
    do {
        me->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
        if (me->cpu_ns < CREW_CPU_NS)
            me->units += work->batch(work->arg, me->number);
    } while (me->cpu_ns < CREW_CPU_NS);
}

/* Locking a valid mutex cannot fail. */
static void *worker_main(void *arg)
{
    struct worker *me = arg;
    struct crew *crew = me->crew;
    int rc = prepare_worker(me);
    int64_t end_ns;

    (void)pthread_mutex_lock(&crew->lock);
    crew->ready += rc == 0;
    crew->unable += rc != 0;
    (void)pthread_cond_broadcast(&crew->changed);
    while (crew->end_ns == 0)
        (void)pthread_cond_wait(&crew->changed, &crew->lock);
    end_ns = crew->end_ns;
    (void)pthread_mutex_unlock(&crew->lock);
    if (end_ns > 0)
        do_work(me, end_ns);
    return NULL;
}

/* --- in the caller's ------------------------------------------------------ */

size_t probe_crew_cpus(unsigned cpu[], size_t max)
{
    for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        size_t size = CPU_ALLOC_SIZE((size_t)cpus), n = 0;
        int rc, error;

        if (!set)
            return 0;
        rc = sched_getaffinity(0, size, set);
        error = errno;
        for (size_t i = 0; rc == 0 && i < (size_t)cpus; i++)
            if (CPU_ISSET_S(i, size, set) && n++ < max && cpu)
                cpu[n - 1] = (unsigned)i;
        CPU_FREE(set);
        if (rc == 0 || error != EINVAL)
            return n;
    }
    return 0;
}

static int crew_init(struct crew *crew, struct es_error *err)
{
    size_t n = probe_crew_cpus(NULL, 0);
    unsigned *cpu;

    if (n == 0)
        return es_fail(err, ES_ENV, "look at taskset -p of this process",
                       "probe: cannot find our CPUs: %s", strerror(errno));
    cpu = calloc(n, sizeof *cpu);
    crew->worker = calloc(n, sizeof *crew->worker);
    if (!cpu || !crew->worker) {
        free(cpu);
        free(crew->worker);
        return es_no_memory(err);
    }
    (void)probe_crew_cpus(cpu, n); /* a CPU that has gone counts as CPU 0 */
    for (size_t i = 0; i < n; i++) {
        crew->worker[i].crew = crew;
        crew->worker[i].number = i;
        crew->worker[i].cpu = cpu[i];
    }
    crew->n = n;
    free(cpu);
    return 0;
}

/* Start the threads with all signals blocked; returns how many there are. */
static size_t crew_hire(struct crew *crew)
{
    sigset_t all, before;
    size_t i;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    for (i = 0; i < crew->n; i++)
        if (pthread_create(&crew->worker[i].thread, NULL, worker_main,
                           &crew->worker[i])
            != 0)
            break;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return i;
}

/* Start when all are ready, or end all threads if one is missing or cannot
 * work. */
static void crew_start(struct crew *crew, size_t hired, int64_t budget_ns)
{
    int64_t now, end = probe_now_ns() + budget_ns;

    (void)pthread_mutex_lock(&crew->lock);
    while (hired == crew->n && crew->ready + crew->unable < crew->n)
        (void)pthread_cond_wait(&crew->changed, &crew->lock);
    now = probe_now_ns();
    if (end - now < budget_ns * 2 / 5)
        end = now + budget_ns * 2 / 5;
    crew->step_ns = (end - now) / MARKS;
    crew->enough_ns = crew->work->enough_ms > 0
                          ? now + (int64_t)crew->work->enough_ms * 1000000
                          : INT64_MAX;
    crew->end_ns = hired == crew->n && crew->unable == 0 ? end : -1;
    (void)pthread_cond_broadcast(&crew->changed);
    (void)pthread_mutex_unlock(&crew->lock);
}

/* The rate by CPU time, of which the limit gives a part.  -1 if memory ran out.
 */
static int rate_within_limit(const struct crew *crew, struct crew_rate *rate)
{
    double *each = calloc(crew->n, sizeof *each);

    if (!each)
        return -1;
    for (size_t i = 0; i < crew->n; i++)
        each[i] = (double)crew->worker[i].units * 1e9
                  / (double)crew->worker[i].cpu_ns;
    rate->units_per_s =
        crew->work->cpus_most * probe_mean(each, crew->n, &rate->spread);
    free(each);
    return 0;
}

static int rate_by_clock(const struct crew *crew, struct crew_rate *rate)
{
    struct probe_trace *trace = calloc(crew->n, sizeof *trace);

    if (!trace)
        return -1;
    for (size_t i = 0; i < crew->n; i++)
        trace[i] =
            (struct probe_trace){crew->worker[i].mark, crew->worker[i].n};
    if (probe_rate(trace, crew->n, &rate->units_per_s, &rate->spread) < 0)
        *rate = (struct crew_rate){0};
    free(trace);
    return 0;
}

static int crew_rate(const struct crew *crew,
                     struct crew_rate *rate,
                     struct es_error *err)
{
    double most = crew->work->cpus_most;
    int limited = most > 0 && most < (double)crew->n;

    if ((limited ? rate_within_limit(crew, rate) : rate_by_clock(crew, rate))
        < 0)
        return es_no_memory(err);
    return 0;
}

int probe_crew_run(const struct probe_work *work,
                   int budget_ms,
                   struct crew_rate *rate,
                   struct es_error *err)
{
    struct crew crew = {.work = work,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .changed = PTHREAD_COND_INITIALIZER};
    int64_t budget_ns = (int64_t)budget_ms * 1000000;
    size_t hired;
    int rc;

    if (crew_init(&crew, err) < 0)
        return -1;
    crew.until_ns = probe_now_ns() + budget_ns * 2 / 5;
    hired = crew_hire(&crew);
    crew_start(&crew, hired, budget_ns);
    for (size_t i = 0; i < hired; i++)
        (void)pthread_join(crew.worker[i].thread, NULL); /* ours, joined once */
    if (hired < crew.n)
        rc = es_fail(err, ES_ENV, "raise the limit of processes (ulimit -u)",
                     "probe: cannot start %zu threads", crew.n);
    else if (crew.unable > 0)
        rc = es_fail(err, ES_ENV, "free some memory",
                     "probe: %zu of %zu threads have no memory", crew.unable,
                     crew.n);
    else
        rc = crew_rate(&crew, rate, err);
    free(crew.worker);
    return rc;
}
