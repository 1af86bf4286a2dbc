/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe_cpu.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- from marks to a rate: pure ----------------------------------------- */

#define PARTS 8 /* for the spread */

struct window {
    int64_t begin, end;
};

static int64_t longest_gap(const struct probe_trace trace[], size_t n)
{
    int64_t longest = 0;

    for (size_t t = 0; t < n; t++)
        for (size_t i = 1; i < trace[t].n; i++) {
            int64_t gap = trace[t].mark[i].ns - trace[t].mark[i - 1].ns;
            if (gap > longest)
                longest = gap;
        }
    return longest;
}

/* The end of the first stall of one thread after "after"; INT64_MAX: none. */
static int64_t next_stall_end(const struct probe_trace *trace,
                              int64_t stall,
                              int64_t after)
{
    const struct probe_mark *m = trace->mark;

    for (size_t i = 1; i < trace->n; i++)
        if (m[i].ns > after && m[i].ns - m[i - 1].ns >= stall)
            return m[i].ns;
    return INT64_MAX;
}

/* From the end of the first stall of any of n threads to that of the last
 * one, within "in".  Empty if there are fewer than two. */
static struct window stalled_window(const struct probe_trace trace[],
                                    size_t n,
                                    int64_t stall,
                                    struct window in)
{
    struct window w = {in.end, in.begin};

    for (size_t t = 0; t < n; t++) {
        int64_t end = next_stall_end(&trace[t], stall, in.begin - 1);
        if (end < w.begin)
            w.begin = end;
        for (; end <= in.end; end = next_stall_end(&trace[t], stall, end))
            if (end > w.end)
                w.end = end;
    }
    return w;
}

/* Does a cover num/den of b? */
static int covers(struct window a, struct window b, int num, int den)
{
    return a.begin < a.end
           && (a.end - a.begin) * den >= (b.end - b.begin) * num;
}

/* Units that one thread had done by ns, which lies within its marks. */
static double units_by(const struct probe_trace *trace, int64_t ns)
{
    const struct probe_mark *m = trace->mark;
    size_t low = 0, high = trace->n - 1;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (m[middle].ns <= ns)
            low = middle;
        else
            high = middle;
    }
    if (m[high].ns == m[low].ns)
        return (double)m[low].units;
    return (double)m[low].units
           + (double)(m[high].units - m[low].units) * (double)(ns - m[low].ns)
                 / (double)(m[high].ns - m[low].ns);
}

/* Units per nanosecond of one thread within w. */
static double thread_rate(const struct probe_trace *trace, struct window w)
{
    return (units_by(trace, w.end) - units_by(trace, w.begin))
           / (double)(w.end - w.begin);
}

/* The time that all threads have in common; -1 if they have none. */
static int common(const struct probe_trace trace[], size_t n, struct window *w)
{
    w->begin = INT64_MIN;
    w->end = INT64_MAX;
    for (size_t t = 0; t < n; t++) {
        if (trace[t].n < 2)
            return -1;
        if (trace[t].mark[0].ns > w->begin)
            w->begin = trace[t].mark[0].ns;
        if (trace[t].mark[trace[t].n - 1].ns < w->end)
            w->end = trace[t].mark[trace[t].n - 1].ns;
    }
    return n > 0 && w->begin < w->end ? 0 : -1;
}

/* How much the rate of all threads differs between PARTS parts of w. */
static double spread_within(const struct probe_trace trace[],
                            size_t n,
                            struct window w)
{
    double sum = 0, squares = 0, mean;

    for (int i = 0; i < PARTS; i++) {
        struct window part = {w.begin + (w.end - w.begin) * i / PARTS,
                              w.begin + (w.end - w.begin) * (i + 1) / PARTS};
        double rate = 0;

        for (size_t t = 0; t < n && part.begin < part.end; t++)
            rate += thread_rate(&trace[t], part);
        sum += rate;
        squares += rate * rate;
    }
    mean = sum / PARTS;
    return mean > 0 ? sqrt(fmax(squares / PARTS - mean * mean, 0)) / mean : 0;
}

int probe_cpu_rate(const struct probe_trace trace[],
                   size_t n,
                   double *units_per_s,
                   double *spread)
{
    struct window all, w;
    int64_t stall = longest_gap(trace, n) / 2;
    double rate = 0;

    if (common(trace, n, &all) < 0)
        return -1;
    if (stall < PROBE_STALL_NS)
        stall = PROBE_STALL_NS;
    w = stalled_window(trace, n, stall, all);
    if (!covers(w, all, 1, 3))
        w = all;
    for (size_t t = 0; t < n; t++) {
        struct window own = stalled_window(&trace[t], 1, stall, w);
        rate += thread_rate(&trace[t], covers(own, w, 3, 4) ? own : w);
    }
    if (!(rate > 0))
        return -1;
    *units_per_s = rate * 1e9;
    *spread = spread_within(trace, n, w);
    return 0;
}

/* --- the work itself ----------------------------------------------------- */

#define MARKS  4096 /* a thread: a mark each 61 us at 250 ms, 64 KiB */
#define ROUNDS 1024 /* in a unit: about 2 us on a core of 2020 */
#define BATCH  4    /* units between two looks at the clock */

struct crew;

struct worker {
    struct crew *crew;
    pthread_t thread;
    struct probe_mark mark[MARKS + 1];
    size_t n;
    double sink; /* the result, so that the work is not optimised away */
};

struct crew {
    pthread_mutex_t lock;
    pthread_cond_t started;
    int64_t end_ns; /* 0: wait; < 0: go home */
    int64_t step_ns;
};

static int64_t now_ns(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts); /* fails for a bad id only */
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* One unit: dependent integer and floating-point arithmetic, no memory. */
static double unit(uint64_t *seed)
{
    uint64_t x = *seed;
    double y = 1;

    for (int i = 0; i < ROUNDS; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        y = y * 0.999 + (double)(x >> 40);
    }
    *seed = x;
    return y;
}

static void work(struct worker *me, int64_t end_ns)
{
    uint64_t seed = 88172645463325252, units = 0;
    int64_t now = now_ns(), next = now;

    while (me->n <= MARKS && next < end_ns) {
        if (now >= next) {
            me->mark[me->n].ns = now;
            me->mark[me->n++].units = units;
            next = now + me->crew->step_ns;
        }
        for (int i = 0; i < BATCH; i++)
            me->sink += unit(&seed);
        units += BATCH;
        now = now_ns();
    }
}

static void *worker_main(void *arg)
{
    struct worker *me = arg;
    struct crew *crew = me->crew;
    int64_t end_ns;

    (void)pthread_mutex_lock(&crew->lock); /* fails for a bad mutex only */
    while (crew->end_ns == 0)
        (void)pthread_cond_wait(&crew->started, &crew->lock);
    end_ns = crew->end_ns;
    (void)pthread_mutex_unlock(&crew->lock);
    if (end_ns > 0)
        work(me, end_ns);
    return NULL;
}

static void crew_start(struct crew *crew, int64_t end_ns)
{
    (void)pthread_mutex_lock(&crew->lock);
    crew->end_ns = end_ns;
    (void)pthread_cond_broadcast(&crew->started);
    (void)pthread_mutex_unlock(&crew->lock);
}

/* Start n threads with all signals blocked; returns how many there are. */
static size_t crew_hire(struct crew *crew, struct worker *worker, size_t n)
{
    sigset_t all, before;
    size_t i;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    for (i = 0; i < n; i++) {
        worker[i].crew = crew;
        if (pthread_create(&worker[i].thread, NULL, worker_main, &worker[i])
            != 0)
            break;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return i;
}

/* CPUs in our affinity mask, however large the machine; 0 on failure. */
static size_t cpu_count(void)
{
    for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        size_t size = CPU_ALLOC_SIZE((size_t)cpus), n = 0;
        int rc, error;

        if (!set)
            return 0;
        rc = sched_getaffinity(0, size, set);
        error = errno;
        if (rc == 0)
            n = (size_t)CPU_COUNT_S(size, set);
        CPU_FREE(set);
        if (rc == 0 || error != EINVAL)
            return n;
    }
    return 0;
}

int probe_cpu(int budget_ms,
              double *units_per_s,
              double *spread,
              struct es_error *err)
{
    struct crew crew = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0,
                        0};
    int64_t budget_ns = (int64_t)budget_ms * 1000000;
    struct worker *worker = NULL;
    struct probe_trace *trace = NULL;
    size_t n, hired;
    int rc = -1;

    if (budget_ms < PROBE_BUDGET_MIN_MS || budget_ms > PROBE_BUDGET_MAX_MS)
        return es_fail(err, ES_USAGE, "give 50 to 5000",
                       "probe: a budget of %d ms is out of range", budget_ms);
    n = cpu_count();
    if (n == 0)
        return es_fail(err, ES_ENV, "look at taskset -p of this process",
                       "probe: cannot tell our CPUs: %s", strerror(errno));
    worker = calloc(n, sizeof *worker);
    trace = calloc(n, sizeof *trace);
    if (!worker || !trace) {
        es_fail(err, ES_ENV, "free some memory", "probe: out of memory");
        goto done;
    }
    crew.step_ns = budget_ns / MARKS;
    hired = crew_hire(&crew, worker, n);
    crew_start(&crew, hired == n ? now_ns() + budget_ns : -1);
    for (size_t i = 0; i < hired; i++) {
        (void)pthread_join(worker[i].thread, NULL); /* ours, joined once */
        trace[i] = (struct probe_trace){worker[i].mark, worker[i].n};
    }
    if (hired < n)
        es_fail(err, ES_ENV, "raise the limit of processes (ulimit -u)",
                "probe: cannot start %zu threads", n);
    else if (probe_cpu_rate(trace, n, units_per_s, spread) < 0)
        es_fail(err, ES_ENV, "give the node more time (probe budget_ms)",
                "probe: no work was done in %d ms", budget_ms);
    else
        rc = 0;
done:
    free(trace);
    free(worker);
    return rc;
}
