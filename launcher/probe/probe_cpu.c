/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_cpu.h"
#include "launcher/base/cgroup_limit.h"
#include "launcher/probe/probe_crew.h"
#include "launcher/probe/topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS    1024 /* in a unit: about 2 us on a core of 2020 */
#define ROUND_OPS 10   /* in do_unit(): 7 integer, 3 floating-point ones */
#define BATCH     4    /* units between two looks at the clock */

/* Milliseconds: under a limit the rate follows from CPU time, for which this is
 * enough, without whole periods.  The rest of the budget is left to the next
 * probes. */
#define LIMITED_MS 50

/* Without a limit that can be seen: over a period of 100 ms, the usual one of a
 * limit that cannot. */
#define STEADY_MS 110

/* The numbers of one thread, on a cache line of their own. */
struct sum {
    uint64_t seed;
    double result; /* kept, so that the work is not optimised away */
    char pad[48];
};

/* One unit: dependent integer and floating-point arithmetic, no memory. */
static double do_unit(uint64_t *seed)
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

static uint64_t do_batch(void *arg, size_t thread)
{
    struct sum *mine = (struct sum *)arg + thread;

    for (int i = 0; i < BATCH; i++)
        mine->result += do_unit(&mine->seed);
    return BATCH;
}

int probe_cpu(int budget_ms,
              double cpus_most,
              double *units_per_s,
              double *spread,
              struct es_error *err)
{
    struct probe_work work = {
        .batch = do_batch, .cpus_most = cpus_most, .enough_ms = STEADY_MS};
    struct crew_rate rate;
    size_t n = probe_crew_cpus(NULL, 0);
    int rc;

    if (budget_ms < PROBE_BUDGET_MIN_MS || budget_ms > PROBE_BUDGET_MAX_MS)
        return es_fail(err, ES_USAGE, "give 50 to 5000",
                       "probe: a budget of %d ms is out of range", budget_ms);
    if (n == 0)
        return es_fail(err, ES_ENV, "look at taskset -p of this process",
                       "probe: cannot find our CPUs: %s", strerror(errno));
    work.arg = calloc(n, sizeof(struct sum));
    if (!work.arg)
        return es_no_memory(err);
    for (size_t i = 0; i < n; i++)
        ((struct sum *)work.arg)[i].seed = 88172645463325252;
    rc = probe_crew_run(&work, budget_ms, &rate, err);
    free(work.arg);
    if (rc < 0)
        return -1;
    if (!(rate.units_per_s > 0))
        return es_fail(err, ES_ENV, "give the node more time (probe budget_ms)",
                       "probe: no work was done in %d ms", budget_ms);
    *units_per_s = rate.units_per_s;
    *spread = rate.spread;
    return 0;
}

/* "16 CPUs on 8 cores, limited to the time of 4.00" */
static void describe(char text[PROBE_WHAT_MAX],
                     const struct probe_setup *setup,
                     uint32_t cpus,
                     double cpus_most)
{
    char cores[32] = "", time[48] = "";

    if (setup->topology)
        (void)snprintf(cores, sizeof cores, " on %u cores",
                       topology_shape(setup->topology)->cores);
    if (cpus_most > 0)
        (void)snprintf(time, sizeof time, ", limited to the time of %.2f",
                       cpus_most);
    (void)snprintf(text, PROBE_WHAT_MAX, "%u CPUs%s%s", cpus, cores, time);
}

void probe_cpu_measure(const struct probe_setup *setup,
                       int budget_ms,
                       struct probe_result *r)
{
    char what[PROBE_WHAT_MAX];
    double units_per_s, spread;
    struct cgroup_limit limit;
    struct es_error err;

    cgroup_limit_read(&limit, setup->proc, setup->sysfs);
    r->count = (uint32_t)probe_crew_cpus(NULL, 0);
    if (limit.cpus > 0 && limit.cpus < r->count && budget_ms > LIMITED_MS)
        budget_ms = LIMITED_MS;
    if (probe_cpu(budget_ms, limit.cpus, &units_per_s, &spread, &err) < 0) {
        probe_not_measured(r, "%s: %s", err.what, err.mend);
        return;
    }
    describe(what, setup, r->count, limit.cpus);
    probe_measured(r, units_per_s * ROUNDS * ROUND_OPS / 1e9, spread, "%s",
                   what);
}
