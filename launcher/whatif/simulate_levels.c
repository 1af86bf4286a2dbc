/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/simulate_levels.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAMES_MAX 40

int levels_take(void *bits, const char *text, struct es_error *err)
{
    unsigned levels = 0;

    for (size_t len; *text; text += len + (text[len] == ',')) {
        char name[NAMES_MAX];
        enum simulated_level k;

        len = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)len, text);
        k = simulated_level_find(name);
        if (k == SIMULATED_LEVELS)
            return es_fail(err, ES_USAGE,
                           "give some of core, socket, node and rack, with "
                           "commas between",
                           "--levels: \"%s\" is unknown", name);
        levels |= 1U << k;
    }
    if (levels == 0)
        return es_fail(err, ES_USAGE, "give core,socket,node,rack",
                       "--levels: none is named");
    *(unsigned *)bits = levels;
    return 0;
}

/* --- what is printed ------------------------------------------------------ */

/* A region, and the step after it. */
struct round {
    struct levels_region region;
    size_t changed;
    double step_ms; /* CPU time */
};

static void join_names(char *text, size_t size, unsigned levels)
{
    size_t used = 0;

    text[0] = '\0';
    for (enum simulated_level k = SIMULATED_CORE; k < SIMULATED_LEVELS; k++)
        if (levels >> k & 1 && used < size)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s",
                                 used > 0 ? "," : "", simulated_level_name(k));
}

static double percent(uint64_t limit)
{
    return (double)limit / SIMULATED_PERCENT;
}

static json_t *list_of(unsigned levels)
{
    json_t *list = json_array();

    for (enum simulated_level k = SIMULATED_CORE; k < SIMULATED_LEVELS; k++)
        if (levels >> k & 1)
            (void)json_array_append_new(/* a failure fails json_pack() */
                                        list,
                                        json_string(simulated_level_name(k)));
    return list;
}

static int print_json(const void *state,
                      const struct levels_simulation_setup *setup,
                      uint64_t i,
                      const struct round *r)
{
    json_t *racks = json_array(), *all;
    int rc;

    for (size_t k = 0; k * setup->rack < setup->nodes; k++)
        (void)json_array_append_new(
            racks, json_real(percent(levels_simulation_rack(state, k))));
    all =
        json_pack("{s:o, s:I, s:f, s:f, s:f, s:f, s:f, s:I, s:f, s:o}",
                  "levels", list_of(setup->steered), "region", (json_int_t)i,
                  "seconds", r->region.seconds, "to_ideal", r->region.ideal,
                  "waiting", r->region.waiting, "skew", r->region.skew, "power",
                  percent(r->region.power), "changed", (json_int_t)r->changed,
                  "step_ms", r->step_ms, "racks", racks);
    rc = all ? json_dumpf(all, stdout, JSON_COMPACT) : -1;
    json_decref(all);
    return rc == 0 && putchar('\n') != EOF ? 0 : -1;
}

static int print_text(const char *levels, uint64_t i, const struct round *r)
{
    return printf("%-21s %6" PRIu64 " %10.4g %8.3f %7.1f%% %10.6f %12.1f %9zu "
                  "%8.1f\n",
                  levels, i, r->region.seconds, r->region.ideal,
                  100 * r->region.waiting, r->region.skew,
                  percent(r->region.power), r->changed, r->step_ms);
}

static int print_head(const struct levels_simulation_setup *s)
{
    return printf("%zu nodes of %zu x %zu cores, %zu a rack: %zu cores\n"
                  "%-21s %6s %10s %8s %8s %10s %12s %9s %8s\n",
                  s->nodes, s->sockets, s->cores, s->rack,
                  s->nodes * s->sockets * s->cores, "levels", "region",
                  "seconds", "/ ideal", "waiting", "skew", "power %", "changed",
                  "step ms");
}

/* --- the runs ------------------------------------------------------------- */

static double cpu_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* cannot fail */
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct round next_round(void *state)
{
    struct round r;
    double began;

    levels_simulation_region(state, &r.region);
    began = cpu_ms();
    r.changed = levels_simulation_step(state);
    r.step_ms = cpu_ms() - began;
    return r;
}

static int run_regions(void *state,
                       const struct levels_simulation_setup *setup,
                       uint64_t regions,
                       int json,
                       struct es_error *err)
{
    char levels[NAMES_MAX];
    int printed = 0;

    join_names(levels, sizeof levels, setup->steered);
    for (uint64_t i = 0; printed >= 0 && i < regions; i++) {
        struct round r = next_round(state);

        printed =
            json ? print_json(state, setup, i, &r) : print_text(levels, i, &r);
    }
    if (printed < 0 || fflush(stdout) != 0)
        return es_no_space(err);
    return 0;
}

/* Those levels, from the start. */
static int begin(struct levels_simulation_setup *setup,
                 unsigned levels,
                 void *state,
                 struct es_error *err)
{
    setup->steered = levels;
    switch (levels_simulation_init(state, setup)) {
    case 0:
        return 0;
    case -2:
        return es_fail(err, ES_USAGE, "give more, or a lower --floor",
                       "--budget: %g%% is below the floors of a rack",
                       percent(setup->budget) / (double)setup->rack
                           / (double)setup->sockets / (double)setup->cores);
    default:
        return es_fail(err, ES_USAGE, "give other numbers",
                       "a number is out of range");
    }
}

static int run(struct levels_simulation_setup *setup,
               unsigned levels,
               void *state,
               uint64_t regions,
               int json,
               struct es_error *err)
{
    if (begin(setup, levels, state, err) < 0)
        return -1;
    return run_regions(state, setup, regions, json, err);
}

static int run_each(const struct levels_options *o,
                    struct levels_simulation_setup *setup,
                    void *state,
                    uint64_t regions,
                    int json,
                    struct es_error *err)
{
    int rc = 0, several = (o->levels & (o->levels - 1)) != 0;

    if (begin(setup, 0, state, err) < 0) /* before the head */
        return -1;
    if (!json && print_head(setup) < 0)
        return es_no_space(err);
    for (unsigned k = 0; rc == 0 && k < SIMULATED_LEVELS && several; k++)
        if (o->levels >> k & 1)
            rc = run(setup, 1U << k, state, regions, json, err);
    return rc == 0 ? run(setup, o->levels, state, regions, json, err) : rc;
}

int simulate_levels(const struct levels_options *o,
                    struct levels_simulation_setup *setup,
                    uint64_t regions,
                    int json,
                    struct es_error *err)
{
    size_t bytes;
    void *state;
    int rc;

    setup->sockets = o->sockets;
    setup->cores = o->cores / o->sockets;
    setup->rack = o->rack < setup->nodes ? o->rack : setup->nodes;
    setup->uneven = o->uneven;
    setup->budget = (uint64_t)(o->budget * SIMULATED_PERCENT
                               * (double)(setup->rack * o->cores));
    if (o->cores % o->sockets != 0)
        return es_fail(err, ES_USAGE, "give a multiple of --sockets",
                       "--cores: %" PRIu64 " cores are not as many on each of "
                       "%" PRIu64 " sockets",
                       o->cores, o->sockets);
    bytes = levels_simulation_bytes(setup);
    if (bytes == 0)
        return es_fail(err, ES_USAGE, "give less nodes or cores",
                       "--cores: more than %" PRIu64 " cores in all",
                       SIMULATED_CORES_MAX);
    state = malloc(bytes);
    if (!state)
        return es_no_memory(err);
    rc = run_each(o, setup, state, regions, json, err);
    free(state);
    return rc;
}
