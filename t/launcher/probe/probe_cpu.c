/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_cpu.h"
#include "launcher/probe/probe.h"
#include "launcher/probe/probe_crew.h"

#include <sched.h>
#include <time.h>

#include "fault.h"
#include "own_entries.h"
#include "tree.h"

static void test_budgets(void)
{
    static const int bad[] = {-1, 0, 49, 5001};
    struct es_error err;
    double rate = 7, spread = 8;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        err = (struct es_error){ES_OK, "", ""};
        ok(probe_cpu(bad[i], 0, &rate, &spread, &err) == -1
               && err.kind == ES_USAGE && strstr(err.what, "out of range"),
           "a budget of %d ms is refused", bad[i]);
    }
    ok(rate == 7 && spread == 8, "and the results are untouched");
}

/* A joined thread may be seen for a moment longer. */
static int threads_become(int n)
{
    const struct timespec pause_5ms = {0, 5000000};

    for (int i = 0; i < 2000 && own_entries("/proc/self/task") != n; i++)
        nanosleep(&pause_5ms, NULL);
    return own_entries("/proc/self/task") == n;
}

/* On a machine that others use, too, a short time may not do. */
static int probed(double *rate, double *spread)
{
    int ms = 50;

    while (probe_cpu(ms, 0, rate, spread, NULL) < 0)
        if ((ms *= 3) > 10000)
            return -1;
    return 0;
}

static void test_probe(void)
{
    double rate = 0, spread = -1;
    int threads;

    is_int(probed(&rate, &spread), 0, "this node is probed");
    ok(isfinite(rate) && rate > 1000, "it does more than 1000 units a second");
    ok(isfinite(spread) && spread >= 0, "the spread is a number");
    threads = own_entries("/proc/self/task"); /* a sanitizer's, too */
    is_int(probed(&rate, &spread), 0, "and again");
    ok(threads_become(threads), "no thread is left");
}

/* Gop/s of a node whose control group has this limit. */
static double measure(const char *limit)
{
    struct probe_result r = {0};
    struct probe_setup setup;

    tree_put("fs/cgroup/cpu.max", limit);
    probe_setup_init(&setup);
    setup.proc = setup.sysfs = tree_root;
    probe_cpu_measure(&setup, 50, &r);
    diag("%g Gop/s: %s", r.value, r.what);
    return r.value;
}

/* However busy the machine is, and the clock with it. */
static void test_limit(void)
{
    double half, tenth;

    tree_make();
    tree_put("self/cgroup", "0::/\n");
    half = measure("50000 100000\n");
    tenth = measure("10000 100000\n");
    ok(tenth > 0 && tenth / half > 0.17 && tenth / half < 0.23,
       "within a limit the rate is that of CPU time");
    tree_remove();
}

static uint64_t spin(void *arg, size_t thread)
{
    (void)arg;
    (void)thread;
    return 1;
}

static uint64_t stand_still(void *arg, size_t thread)
{
    const struct timespec pause_2ms = {0, 2000000};

    (void)arg;
    (void)thread;
    nanosleep(&pause_2ms, NULL);
    return 1;
}

/* Milliseconds that a crew of which 2 would do has taken of 200. */
static int64_t took(uint64_t (*batch)(void *, size_t))
{
    struct probe_work work = {.batch = batch, .cpus_most = 0, .enough_ms = 2};
    int64_t begin = probe_now_ns();
    struct crew_rate rate;

    if (probe_crew_run(&work, 200, &rate, NULL) < 0)
        bail("no crew");
    return (probe_now_ns() - begin) / 1000000;
}

/* Of one thread: on a busy machine two are not let alone for long. */
static void test_enough(void)
{
    cpu_set_t all, one;
    int tries = 0;

    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    if (sched_getaffinity(0, sizeof all, &all) < 0
        || sched_setaffinity(0, sizeof one, &one) < 0)
        bail("no CPU");
    while (took(spin) > 100 && tries < 100)
        tries++;
    ok(tries < 100, "a crew that works on has soon enough");
    ok(took(stand_still) >= 195, "one that stands still takes all its time");
    (void)sched_setaffinity(0, sizeof all, &all);
}

static void test_no_memory(void)
{
    struct es_error err = {ES_OK, "", ""};
    double rate = 7, spread = 8;
    long n;

    for (fault_at = n = 0; probe_cpu(50, 0, &rate, &spread, &err) < 0;
         fault_at = ++n)
        if (err.kind != ES_ENV || !strstr(err.what, "out of memory")
            || rate != 7)
            break;
    fault_at = -1;
    is_int(n, 4, "each allocation that fails is told, and nothing else done");
}

int main(void)
{
    test_budgets();
    test_probe();
    test_limit();
    test_enough();
    test_no_memory();
    return done();
}
