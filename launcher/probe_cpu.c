/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe_cpu.h"
#include "launcher/cgroup_limit.h"
#include "launcher/probe_crew.h"
#include "launcher/topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS    1024 /* in a unit: about 2 us on a core of 2020 */
#define ROUND_OPS 10   /* see unit(): 7 of integers, 3 of floating point */
#define BATCH     4    /* units between two looks at the clock */

/* A thread's own numbers, on a cache line of its own. */
struct sum {
    uint64_t seed;
    double result; /* kept, so that the work is not optimised away */
    char pad[48];
};

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

static uint64_t batch(void *arg, size_t thread)
{
    struct sum *mine = (struct sum *)arg + thread;

    for (int i = 0; i < BATCH; i++)
        mine->result += unit(&mine->seed);
    return BATCH;
}

int probe_cpu(int budget_ms,
              double *units_per_s,
              double *spread,
              struct es_error *err)
{
    struct probe_work work = {.batch = batch};
    size_t n = probe_crew_cpus(NULL, 0);
    int rc;

    if (budget_ms < PROBE_BUDGET_MIN_MS || budget_ms > PROBE_BUDGET_MAX_MS)
        return es_fail(err, ES_USAGE, "give 50 to 5000",
                       "probe: a budget of %d ms is out of range", budget_ms);
    if (n == 0)
        return es_fail(err, ES_ENV, "look at taskset -p of this process",
                       "probe: cannot tell our CPUs: %s", strerror(errno));
    work.arg = calloc(n, sizeof(struct sum));
    if (!work.arg)
        return es_fail(err, ES_ENV, "free some memory", "probe: out of memory");
    for (size_t i = 0; i < n; i++)
        ((struct sum *)work.arg)[i].seed = 88172645463325252;
    rc = probe_crew_run(&work, budget_ms, units_per_s, spread, err);
    free(work.arg);
    return rc;
}

/* "16 CPUs on 8 cores, limited to the time of 4.00" */
static void describe(char *text,
                     size_t size,
                     const struct probe_setup *setup,
                     uint32_t cpus)
{
    struct topology *t = topology_load(NULL);
    struct cgroup_limit limit;
    char cores[32] = "", time[48] = "";

    cgroup_limit_read(&limit, setup->proc, setup->sysfs);
    if (t && topology_shape(t)->cores > 0)
        (void)snprintf(cores, sizeof cores, " on %u cores",
                       topology_shape(t)->cores);
    if (limit.cpus > 0)
        (void)snprintf(time, sizeof time, ", limited to the time of %.2f",
                       limit.cpus);
    (void)snprintf(text, size, "%u CPUs%s%s", cpus, cores, time);
    topology_destroy(t);
}

void probe_cpu_measure(const struct probe_setup *setup,
                       int budget_ms,
                       struct probe_result *r)
{
    char what[PROBE_WHAT_MAX];
    double units_per_s, spread;
    struct es_error err;

    if (probe_cpu(budget_ms, &units_per_s, &spread, &err) < 0) {
        probe_not_measured(r, "%s: %s", err.what, err.mend);
        return;
    }
    r->count = (uint32_t)probe_crew_cpus(NULL, 0);
    describe(what, sizeof what, setup, r->count);
    probe_measured(r, units_per_s * ROUNDS * ROUND_OPS / 1e9, spread, "%s",
                   what);
}
