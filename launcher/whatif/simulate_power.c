/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/simulations.h"

#include "launcher/base/options.h"
#include "launcher/whatif/node_numbers.h"
#include "launcher/whatif/simulate_levels.h"
#include "policy/power_simulation.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGIONS_MAX 1000000
#define STEP        SIMULATED_PERCENT

struct options {
    struct power_simulation_setup setup;
    struct levels_options levels; /* levels.levels 0: nodes alone */
    const char *works;
    uint64_t nodes, regions;            /* nodes 0: one a number */
    double limit, floor, ceiling, idle; /* percent */
    int variant, json;
    // cppcheck-suppress unusedStructMember
    int power; /* given, else another simulation would run */
};

/* --- options -------------------------------------------------------------- */

#define AT(member)         OPTION_AT(struct options, member)
#define PERCENT_AT(member) AT(member), .low = 0.001, .high = 1e6

/* clang-format off */
static const struct option options[] = {
    {OPTION_FLAG, "power", NULL, AT(power), .help = "these simulations, not those of frames"},
    {OPTION_TEXT, "work", "W1,W2,...", AT(works), .required = 1, .help =
     "of each node's region, any unit"},
    {OPTION_COUNT, "nodes", "N", AT(nodes), .low = 1,
     .high = SIMULATED_NODES_MAX, .help =
     "as many nodes; the work is repeated (one a number)"},
    {OPTION_WORD, "variant", "pair|boost|save", AT(variant), .def = "pair",
     .help = "pairs, or only the slowest is given any, or those who wait are given less"},
    {OPTION_NUMBER, "limit", "PERCENT", PERCENT_AT(limit), .def = "40", .help =
     "of every node at first"},
    {OPTION_NUMBER, "floor", "PERCENT", PERCENT_AT(floor), .def = "8", .help =
     "least of a node"},
    {OPTION_NUMBER, "ceiling", "PERCENT", PERCENT_AT(ceiling), .def = "100",
     .help = "most of a node"},
    {OPTION_NUMBER, "idle", "PERCENT", AT(idle), .high = 1e6, .help =
     "of it does no work, and is used while waiting, too (0)"},
    {OPTION_FLAG, "sleep", NULL, AT(setup.sleeps), .help =
     "nodes that wait use --idle only, not their limit"},
    {OPTION_NUMBER, "exponent", "E", AT(setup.exponent), .low = 0.01,
     .high = 10, .def = "1", .help = "speed = limit ^ E"},
    {OPTION_NUMBER, "noise", "X", AT(setup.noise), .high = 1, .help =
     "standard deviation of a time, relative (0)"},
    {OPTION_NUMBER, "bound", "B", AT(setup.rule.bound), .high = 1, .help =
     "skew within which nothing is changed (0.00005)"},
    {OPTION_NUMBER, "band", "B", AT(setup.rule.band), .high = 1, .help =
     "around the median, likewise (0.005)"},
    {OPTION_NUMBER, "gain", "G", AT(setup.rule.gain), .low = 0.01, .high = 1,
     .help = "part of the way gone at a time (0.8)"},
    {OPTION_COUNT, "regions", "R", AT(regions), .low = 1, .high = REGIONS_MAX,
     .def = "20", .help = "how many"},
    {OPTION_COUNT, "seed", "S", AT(setup.seed), .high = UINT32_MAX,
     .def = "1", .help = "of the noise"},
    {OPTION_FLAG, "json", NULL, AT(json), .help =
     "print one JSON object a region"},
    {OPTION_GROUP, .name = "level by level:"},
    {OPTION_TAKE, "levels", "L1,L2,...", AT(levels.levels),
     .take = levels_take, .excludes = "idle sleep", .help =
     "of core, socket, node and rack: cores meet at the barrier, and are "
     "steered by each of these levels alone, then by all of them; groups "
     "first, then within"},
    {OPTION_COUNT, "cores", "N", AT(levels.cores), .needs = "levels", .low = 1, .high = 65536,
     .def = "64", .help = "of a node; limits are of each core"},
    {OPTION_COUNT, "sockets", "N", AT(levels.sockets), .needs = "levels", .low = 1,
     .high = 65536, .def = "2", .help = "of a node"},
    {OPTION_COUNT, "rack", "N", AT(levels.rack), .needs = "levels", .low = 1,
     .high = SIMULATED_NODES_MAX, .def = "32", .help = "nodes of a rack"},
    {OPTION_NUMBER, "uneven", "X", AT(levels.uneven), .needs = "levels", .high = 1, .help =
     "standard deviation of the work from core to core, likewise from socket "
     "to socket, node to node, rack to rack; relative (0)"},
    {OPTION_NUMBER, "budget", "PERCENT", PERCENT_AT(levels.budget), .needs = "levels", .help =
     "most of a rack, as a mean of its cores (none)"},
    {.type = OPTION_END},
};
/* clang-format on */

static const enum power_variant variants[] = {POWER_PAIR, POWER_BOOST,
                                              POWER_SAVE};

/* The caller frees *work. */
static int parse(struct options *o, double **work, struct es_error *err)
{
    struct power_simulation_setup *s = &o->setup;

    if (o->limit < o->floor || o->limit > o->ceiling)
        return es_fail(err, ES_USAGE, "give floor <= limit <= ceiling",
                       "--limit: %g%% is not between %g%% and %g%%", o->limit,
                       o->floor, o->ceiling);
    if (o->idle >= o->floor)
        return es_fail(err, ES_USAGE, "give less than --floor",
                       "--idle: %g%% is not below the floor of %g%%", o->idle,
                       o->floor);
    s->limit = (uint64_t)(o->limit * STEP);
    s->floor = (uint64_t)(o->floor * STEP);
    s->ceiling = (uint64_t)(o->ceiling * STEP);
    s->idle = (uint64_t)(o->idle * STEP);
    s->rule.variant = variants[o->variant];
    if (s->rule.variant == POWER_SAVE)
        s->ceiling = s->limit; /* nobody is given more than at first */
    *work =
        node_numbers_parse("work", o->works, 1e-9, 1e9, o->nodes, &s->n, err);
    s->work = *work;
    return *work ? 0 : -1;
}

/* --- the run -------------------------------------------------------------- */

static int print_json(const struct options *o,
                      const void *state,
                      int64_t i,
                      const struct power_region *r)
{
    json_t *limits = json_array(), *all;
    int rc;

    for (size_t k = 0; k < o->setup.n; k++)
        (void)json_array_append_new(/* a failure fails json_pack() */
                                    limits,
                                    json_real(
                                        (double)power_simulation_limit(state, k)
                                        / STEP));
    all = json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:I, s:o}", "region",
                    (json_int_t)i, "seconds", r->seconds, "to_ideal", r->ideal,
                    "waiting", r->waiting, "skew", r->skew, "energy", r->energy,
                    "changed", (json_int_t)r->changed, "limits", limits);
    rc = all ? json_dumpf(all, stdout, JSON_COMPACT) : -1;
    json_decref(all);
    return rc == 0 && putchar('\n') != EOF ? 0 : -1;
}

static int print_text(int64_t i, const struct power_region *r)
{
    return printf("%6" PRId64 " %10.4g %8.3f %7.1f%% %10.6f %8zu %10.4g\n", i,
                  r->seconds, r->ideal, 100 * r->waiting, r->skew, r->changed,
                  r->energy);
}

static int simulate_regions(const struct options *o,
                            void *state,
                            struct es_error *err)
{
    int printed = 0;

    if (!o->json)
        printed =
            printf("%6s %10s %8s %8s %10s %8s %10s\n", "region", "seconds",
                   "/ ideal", "waiting", "skew", "changed", "energy");
    for (int64_t i = 0; printed >= 0 && i < (int64_t)o->regions; i++) {
        struct power_region r;

        power_simulation_next(state, &r);
        printed = o->json ? print_json(o, state, i, &r) : print_text(i, &r);
    }
    if (printed < 0 || fflush(stdout) != 0)
        return es_no_space(err);
    return 0;
}

static int simulate_tree(const struct options *o, struct es_error *err)
{
    const struct power_simulation_setup *s = &o->setup;
    struct levels_simulation_setup setup = {.nodes = s->n,
                                            .work = s->work,
                                            .limit = s->limit,
                                            .floor = s->floor,
                                            .ceiling = s->ceiling,
                                            .exponent = s->exponent,
                                            .noise = s->noise,
                                            .rule = s->rule,
                                            .seed = s->seed};

    if (s->rule.variant == POWER_SAVE)
        return es_fail(err, ES_USAGE, "give pair or boost",
                       "--levels: there is none for --variant save");
    return simulate_levels(&o->levels, &setup, o->regions, o->json, err);
}

static int simulate_nodes(const struct options *o, struct es_error *err)
{
    size_t bytes = power_simulation_bytes(o->setup.n);
    void *state = bytes ? malloc(bytes) : NULL;
    int rc = -1;

    if (!state)
        es_no_memory(err);
    else if (power_simulation_init(state, &o->setup) < 0)
        es_fail(err, ES_USAGE, "give other numbers",
                "a number is out of range");
    else
        rc = simulate_regions(o, state, err);
    free(state);
    return rc;
}

static int simulate_power_main(int argc, char **argv, struct es_error *err)
{
    struct options o = {
        .setup = {.rule = {POWER_PAIR, POWER_BOUND, POWER_BAND, POWER_GAIN}},
    };
    double *work = NULL;
    int rc = options_parse(&simulate_power, &o, argc, argv, err);

    if (rc == 0)
        rc = parse(&o, &work, err);
    if (rc == 0)
        rc = o.levels.levels ? simulate_tree(&o, err) : simulate_nodes(&o, err);
    free(work);
    return rc;
}

const struct subcommand simulate_power = {
    .name = "simulate balance --power",
    .about =
        "Simulate nodes that meet at a barrier after every region, and power that is\n"
        "steered from the fast to the slow by the very step of `srun --evenstep-power`.\n",
    .option = options,
    .run = simulate_power_main,
};
