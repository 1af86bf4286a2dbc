/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Power is saved on made-up nodes: the step sets the limits of their packages
 * by the actuator, a model runs at these and counts energy, and that is read
 * back by RAPL's counters.  Time is the model's own.
 */
#include "launcher/base/sysfs.h"
#include "launcher/power/actuator.h"
#include "launcher/power/actuator_rapl.h"
#include "launcher/power/energy_rapl.h"
#include "policy/power.h"
#include "tree.h"

enum { NODES = 4, REGIONS = 60 };

#define MAX_UW  200000000u  /* of a package, which none was limited below */
#define IDLE_UW 40000000u   /* P = idle + k f^3 */
#define RANGE   2000000000u /* uJ: the counter goes round again and again */
#define LATE    1.6

static const double work[NODES] = {1, 1, 1.3, LATE};
static struct actuator actuator[NODES];
static struct energy_rapl energy[NODES];
static char sysfs[NODES][SYSFS_PATH];
static uint64_t counter[NODES];
static double now_s;

static void put(size_t node, const char *file, uint64_t v)
{
    char name[200], text[32];

    snprintf(name, sizeof name, "n%zu/class/powercap/intel-rapl:0/%s", node,
             file);
    snprintf(text, sizeof text, "%ju\n", (uintmax_t)v);
    tree_put(name, text);
}

static void make_node(size_t i)
{
    struct actuator_place place = {.sysfs = sysfs[i]};
    char name[64];

    snprintf(name, sizeof name, "n%zu/class/powercap/intel-rapl:0/name", i);
    tree_put(name, "package-0\n");
    snprintf(sysfs[i], sizeof sysfs[i], "%s/n%zu", tree_root, i);
    counter[i] = RANGE - 1000;
    put(i, "energy_uj", counter[i]);
    put(i, "max_energy_range_uj", RANGE);
    put(i, "constraint_0_power_limit_uw", MAX_UW);
    if (actuator_open(&actuator[i], &rapl_kind, &place, 0, 0.1, NULL) < 0
        || energy_rapl_open(&energy[i], sysfs[i], 0, NULL) < 0)
        bail("no node");
}

/* As the package does: at the frequency that its limit leaves. */
static double seconds_of(size_t i, uint64_t *limit)
{
    if (sysfs_read_u64(limit, "%s", actuator[i].knob[0].path) < 0)
        bail("no limit");
    return work[i]
           / cbrt(((double)*limit - IDLE_UW) / (double)(MAX_UW - IDLE_UW));
}

struct region {
    double seconds, joules;
    uint64_t limits; /* their sum */
};

/* All nodes meet at its end; those who wait spin, at their limits. */
static struct region run_region(struct power_node node[])
{
    struct region r = {0};
    uint64_t limit[NODES], before[NODES];

    for (size_t i = 0; i < NODES; i++) {
        double took = seconds_of(i, &limit[i]);

        r.seconds = fmax(r.seconds, took);
        r.limits += limit[i];
        node[i] = (struct power_node){1 / took, limit[i], actuator[i].floor,
                                      actuator[i].ceiling};
    }
    now_s += r.seconds;
    for (size_t i = 0; i < NODES; i++) {
        counter[i] += (uint64_t)((double)limit[i] * r.seconds);
        counter[i] %= RANGE;
        put(i, "energy_uj", counter[i]);
        before[i] = energy[i].uj;
        if (energy_rapl_read(&energy[i], (int64_t)(now_s * 1e9), NULL) < 0)
            bail("no energy");
        r.joules += (double)(energy[i].uj - before[i]) / 1e6;
    }
    return r;
}

/* Watts that the skew lets go: a node that has a part of the most work needs
 * that part of the frequency. */
static double predicted_watts(void)
{
    double watts = 0;

    for (size_t i = 0; i < NODES; i++)
        watts += (MAX_UW - IDLE_UW) / 1e6 * (1 - pow(work[i] / LATE, 3));
    return watts;
}

static void test_save(void)
{
    const struct power_rule rule = {POWER_SAVE, POWER_BOUND, POWER_BAND,
                                    POWER_GAIN};
    struct power_node node[NODES];
    struct region first = run_region(node), r = first;
    double longest = 0;
    int above = 0;

    for (int k = 0; k < REGIONS; k++) {
        (void)power_step(&rule, node, NODES, NULL);
        for (size_t i = 0; i < NODES; i++)
            if (actuator_set(&actuator[i], node[i].limit, NULL) < 0)
                bail("no limit");
        r = run_region(node);
        longest = fmax(longest, r.seconds);
        above |= r.limits > first.limits;
    }
    ok(fabs((first.joules - r.joules) / (predicted_watts() * LATE) - 1) <= 0.05,
       "%.1f of %.1f J a region are saved; the skew lets go %.1f",
       first.joules - r.joules, first.joules, predicted_watts() * LATE);
    ok(longest <= first.seconds * 1.001, "in the same time: %.4f of %.4f s",
       longest, first.seconds);
    ok(!above, "the sum of the limits is never above that of the start");
}

int main(void)
{
    tree_make();
    for (size_t i = 0; i < NODES; i++)
        make_node(i);
    test_save();
    for (size_t i = 0; i < NODES; i++) {
        uint64_t limit = 0;

        actuator_close(&actuator[i]);
        energy_rapl_close(&energy[i]);
        (void)sysfs_read_u64(
            &limit,
            "%s/class/powercap/intel-rapl:0/constraint_0_power_limit_uw",
            sysfs[i]);
        ok(limit == MAX_UW, "n%zu has its limit back", i);
    }
    tree_remove();
    return done();
}
