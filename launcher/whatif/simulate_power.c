/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/simulations.h"

#include "launcher/base/help.h"
#include "launcher/base/number.h"
#include "policy/power_simulation.h"

#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX   65536
#define REGIONS_MAX 1000000
#define STEP        10000 /* of a limit: so many are a percent of a core */

static const char see_help[] = "see `evenstep simulate balance --power --help`";

static const char usage[] =
    "usage: evenstep simulate balance --power --work W1,W2,... [options]\n"
    "\n"
    "Simulate nodes that meet at a barrier after every region, and power that "
    "is\n"
    "steered from the fast to the slow by the very step of `srun "
    "--evenstep-power`.\n"
    "\n"
    "  --work W1,W2,...     of each node's region, any unit (required)\n"
    "  --nodes N            as many nodes; the work is repeated (one a "
    "number)\n"
    "  --variant pair | boost\n"
    "                       pairs, or only the slowest is given any (pair)\n"
    "  --limit PERCENT      of every node at first (40)\n"
    "  --floor PERCENT      least of a node (8)\n"
    "  --ceiling PERCENT    most of a node (100)\n"
    "  --exponent E         speed = limit ^ E (1)\n"
    "  --noise X            standard deviation of a time, relative (0)\n"
    "  --bound B            skew within which nothing is changed (0.0002)\n"
    "  --band B             around the median, likewise (0.005)\n"
    "  --gain G             part of the way gone at a time (0.8)\n"
    "  --regions R          (20)\n"
    "  --seed S             of the noise (1)\n"
    "  --json               print one JSON object a region\n";

struct options {
    struct power_simulation_setup setup;
    double *work; /* setup.n */
    const char *works;
    int64_t nodes, regions; /* nodes 0: as many as numbers */
    int json, help;
};

/* --- options -------------------------------------------------------------- */

static int take_works(struct options *o, struct es_error *err)
{
    char *copy = strdup(o->works), *rest = copy, *item;
    size_t n = 0;

    o->work = calloc(NODES_MAX, sizeof *o->work);
    while (copy && o->work && (item = strsep(&rest, ",")) != NULL) {
        if (n == NODES_MAX
            || number_parse_double(item, 1e-9, 1e9, &o->work[n]) < 0)
            break;
        n++;
    }
    free(copy);
    if (!copy || !o->work)
        return es_no_memory(err);
    if (rest || item)
        return es_fail(err, ES_USAGE,
                       "give numbers from 1e-9 to 1e9, as 1,1,1,1.6",
                       "--work: number %zu is out of range", n + 1);
    if (o->nodes && (size_t)o->nodes < n)
        return es_fail(err, ES_USAGE, "give as many nodes, or less numbers",
                       "--work: has %zu for %" PRId64 " nodes", n, o->nodes);
    o->setup.n = o->nodes ? (size_t)o->nodes : n;
    for (size_t i = n; i < o->setup.n; i++)
        o->work[i] = o->work[i % n];
    o->setup.work = o->work;
    return 0;
}

static const struct option options[] = {
    {"power", no_argument, NULL, 'P'},
    {"work", required_argument, NULL, 'w'},
    {"nodes", required_argument, NULL, 'n'},
    {"variant", required_argument, NULL, 'v'},
    {"limit", required_argument, NULL, 'l'},
    {"floor", required_argument, NULL, 'f'},
    {"ceiling", required_argument, NULL, 'c'},
    {"exponent", required_argument, NULL, 'e'},
    {"noise", required_argument, NULL, 'r'},
    {"bound", required_argument, NULL, 'b'},
    {"band", required_argument, NULL, 'd'},
    {"gain", required_argument, NULL, 'g'},
    {"regions", required_argument, NULL, 'i'},
    {"seed", required_argument, NULL, 'x'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int take_number(double *v,
                       const char *name,
                       const char *text,
                       double low,
                       double high,
                       struct es_error *err)
{
    char mend[60];

    if (number_parse_double(text, low, high, v) == 0)
        return 0;
    snprintf(mend, sizeof mend, "give %g to %g", low, high);
    return es_fail(err, ES_USAGE, mend, "--%s: \"%s\" is out of range", name,
                   text);
}

static int take_count(int64_t *v,
                      const char *name,
                      const char *text,
                      int64_t low,
                      int64_t high,
                      struct es_error *err)
{
    char mend[60];

    if (number_parse_int(text, low, high, v) == 0)
        return 0;
    snprintf(mend, sizeof mend, "give %" PRId64 " to %" PRId64, low, high);
    return es_fail(err, ES_USAGE, mend, "--%s: \"%s\" is out of range", name,
                   text);
}

static int take_percent(uint64_t *v,
                        const char *name,
                        const char *text,
                        struct es_error *err)
{
    double percent;

    if (take_number(&percent, name, text, 0.001, 1e6, err) < 0)
        return -1;
    *v = (uint64_t)(percent * STEP);
    return 0;
}

static int take_variant(struct options *o,
                        const char *text,
                        struct es_error *err)
{
    o->setup.rule.variant =
        strcmp(text, "boost") == 0 ? POWER_BOOST : POWER_PAIR;
    if (o->setup.rule.variant == POWER_BOOST || strcmp(text, "pair") == 0)
        return 0;
    return es_fail(err, ES_USAGE, "give pair or boost",
                   "--variant: \"%s\" is unknown", text);
}

static int take(struct options *o,
                const struct option *option,
                const char *text,
                struct es_error *err)
{
    struct power_simulation_setup *s = &o->setup;
    const char *name = option->name;
    int64_t seed;

    switch (option->val) {
    case 'P':
        return 0; /* which is why we are here */
    case 'w':
        o->works = text;
        return 0;
    case 'n':
        return take_count(&o->nodes, name, text, 1, NODES_MAX, err);
    case 'v':
        return take_variant(o, text, err);
    case 'l':
        return take_percent(&s->limit, name, text, err);
    case 'f':
        return take_percent(&s->floor, name, text, err);
    case 'c':
        return take_percent(&s->ceiling, name, text, err);
    case 'e':
        return take_number(&s->exponent, name, text, 0.01, 10, err);
    case 'r':
        return take_number(&s->noise, name, text, 0, 1, err);
    case 'b':
        return take_number(&s->rule.bound, name, text, 0, 1, err);
    case 'd':
        return take_number(&s->rule.band, name, text, 0, 1, err);
    case 'g':
        return take_number(&s->rule.gain, name, text, 0.01, 1, err);
    case 'i':
        return take_count(&o->regions, name, text, 1, REGIONS_MAX, err);
    case 'x':
        if (take_count(&seed, name, text, 0, UINT32_MAX, err) < 0)
            return -1;
        s->seed = (uint64_t)seed;
        return 0;
    case 'j':
        o->json = 1;
        return 0;
    default: /* 'h' */
        o->help = 1;
        return 0;
    }
}

static int complete(struct options *o, struct es_error *err)
{
    const struct power_simulation_setup *s = &o->setup;

    if (!o->works)
        return es_fail(err, ES_USAGE, see_help,
                       "simulate balance --power needs --work");
    if (s->limit < s->floor || s->limit > s->ceiling)
        return es_fail(err, ES_USAGE, "give floor <= limit <= ceiling",
                       "--limit: %g%% is not between %g%% and %g%%",
                       (double)s->limit / STEP, (double)s->floor / STEP,
                       (double)s->ceiling / STEP);
    return take_works(o, err);
}

static int parse(struct options *o, int argc, char **argv, struct es_error *err)
{
    int option, index = 0;

    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":", options, &index)) != -1) {
        if (option == ':' || option == '?')
            return es_fail(err, ES_USAGE, see_help, "%s: %s", argv[optind - 1],
                           option == ':' ? "a value is missing"
                                         : "no such option");
        if (take(o, &options[index], optarg, err) < 0)
            return -1;
    }
    if (o->help)
        return 0;
    if (optind < argc)
        return es_fail(err, ES_USAGE, see_help,
                       "simulate balance: unexpected argument \"%s\"",
                       argv[optind]);
    return complete(o, err);
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
    all = json_pack("{s:I, s:f, s:f, s:f, s:f, s:I, s:o}", "region",
                    (json_int_t)i, "seconds", r->seconds, "to_ideal", r->ideal,
                    "waiting", r->waiting, "skew", r->skew, "changed",
                    (json_int_t)r->changed, "limits", limits);
    rc = all ? json_dumpf(all, stdout, JSON_COMPACT) : -1;
    json_decref(all);
    return rc == 0 && putchar('\n') != EOF ? 0 : -1;
}

static int print_text(int64_t i, const struct power_region *r)
{
    return printf("%6" PRId64 " %10.4g %8.3f %7.1f%% %10.6f %8zu\n", i,
                  r->seconds, r->ideal, 100 * r->waiting, r->skew, r->changed);
}

static int run(const struct options *o, void *state, struct es_error *err)
{
    int printed = 0;

    if (!o->json)
        printed = printf("%6s %10s %8s %8s %10s %8s\n", "region", "seconds",
                         "/ ideal", "waiting", "skew", "changed");
    for (int64_t i = 0; printed >= 0 && i < o->regions; i++) {
        struct power_region r;

        power_simulation_next(state, &r);
        printed = o->json ? print_json(o, state, i, &r) : print_text(i, &r);
    }
    if (printed < 0 || fflush(stdout) != 0)
        return es_no_space(err);
    return 0;
}

static int simulate(const struct options *o, struct es_error *err)
{
    size_t bytes = power_simulation_bytes(o->setup.n);
    void *state = bytes ? malloc(bytes) : NULL;
    int rc = -1;

    if (!state)
        es_no_memory(err);
    else if (power_simulation_init(state, &o->setup) < 0)
        es_fail(err, ES_USAGE, see_help, "a number is out of range");
    else
        rc = run(o, state, err);
    free(state);
    return rc;
}

int simulate_power(int argc, char **argv, struct es_error *err)
{
    struct options o = {
        .setup = {.limit = 40 * STEP,
                  .floor = 8 * STEP,
                  .ceiling = 100 * STEP,
                  .exponent = 1,
                  .rule = {POWER_PAIR, POWER_BOUND, POWER_BAND, POWER_GAIN},
                  .seed = 1},
        .regions = 20,
    };
    int rc = parse(&o, argc, argv, err);

    if (rc == 0)
        rc = o.help ? help_print(usage, err) : simulate(&o, err);
    free(o.work);
    return rc;
}
