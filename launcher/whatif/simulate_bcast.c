/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/simulations.h"

#include "launcher/base/help.h"
#include "launcher/base/number.h"
#include "pmix_bcast/formula.h"
#include "pmix_bcast/simulate.h"

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char see_help[] = "see `evenstep simulate bcast --help`";

static const char usage[] =
    "usage: evenstep simulate bcast [options]\n"
    "\n"
    "Simulate a broadcast, event by event, with the planner, estimator, pulls\n"
    "and relays of the real one, over modelled links.\n"
    "\n"
    "  --nodes N            receivers (required)\n"
    "  --bytes B            also 50MB, 1GiB, … (required)\n"
    "  --rate R             of every link and direction, in bit/s: 10gbit, "
    "100mbit (10gbit)\n"
    "  --latency L          20us, 1ms, … (20us)\n"
    "  --scheme NAME        overlap: as `evenstep bcast`\n"
    "                       strict: as `evenstep bcast --strict`\n"
    "                       chain: from node to node\n"
    "                       sbcast, scatter-allgather: by their formulas only\n"
    "  --branches K         nodes that home serves (as it is best)\n"
    "  --chunk SIZE         bytes of a chunk; with sbcast, of a block (as it "
    "is "
    "best)\n"
    "  --pull chunk|node    with strict: choose first the chunk, or the node\n"
    "  --slow P             percent of the nodes have a quarter of the rate\n"
    "  --dead K             nodes that die half-way\n"
    "  --seed S             of the random choices (1)\n"
    "  --json               print one JSON object\n";

enum scheme { OVERLAP, STRICT, CHAIN, SBCAST, SCATTER_ALLGATHER, SCHEMES };
static const char *const scheme_names[SCHEMES] = {
    "overlap", "strict", "chain", "sbcast", "scatter-allgather"};

/* Defaults of sbcast: TreeWidth, and the block size of BcastParameters. */
#define SBCAST_FANOUT 50
#define SBCAST_BLOCK  (8u << 20)

struct options {
    struct plan_wish wish;
    struct simulation simulation;
    enum scheme scheme;
    int json, help;
};

/* --- options -------------------------------------------------------------- */

struct unit {
    const char *name;
    double factor;
};
static const struct unit sizes[] = {
    {"", 1},          {"k", 1024},
    {"kb", 1e3},      {"kib", 1024},
    {"m", 1048576},   {"mb", 1e6},
    {"mib", 1048576}, {"g", 1073741824.0},
    {"gb", 1e9},      {"gib", 1073741824.0},
    {NULL, 0},
};
static const struct unit rates[] = {
    {"bit", 1},    {"kbit", 1e3},  {"mbit", 1e6},
    {"gbit", 1e9}, {"tbit", 1e12}, {NULL, 0},
};
static const struct unit times[] = {
    {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {NULL, 0},
};

/* A number and one of the units, within a range. */
static int take_quantity(double *v,
                         const char *text,
                         const struct unit *unit,
                         double low,
                         double high)
{
    size_t len = strspn(text, "0123456789.");
    char number[32];
    double n;

    if (len >= sizeof number)
        return -1;
    memcpy(number, text, len);
    number[len] = '\0';
    while (unit->name && strcasecmp(unit->name, text + len) != 0)
        unit++;
    if (!unit->name || number_parse_double(number, 0, 1e18, &n) < 0
        || n * unit->factor < low || n * unit->factor > high)
        return -1;
    *v = n * unit->factor;
    return 0;
}

static int take_whole(uint32_t *v, const char *text, int64_t low, int64_t high)
{
    int64_t n;

    if (number_parse_int(text, low, high, &n) < 0)
        return -1;
    *v = (uint32_t)n;
    return 0;
}

static int take_scheme(enum scheme *scheme, const char *text)
{
    for (int i = 0; i < SCHEMES; i++)
        if (strcmp(scheme_names[i], text) == 0) {
            *scheme = (enum scheme)i;
            return 0;
        }
    return -1;
}

static int take_pull(enum pull_way *way, const char *text)
{
    if (strcmp(text, "chunk") != 0 && strcmp(text, "node") != 0)
        return -1;
    *way = text[0] == 'c' ? PULL_BY_CHUNK : PULL_BY_NODE;
    return 0;
}

static const struct option options[] = {
    {"nodes", required_argument, NULL, 'n'},
    {"bytes", required_argument, NULL, 'b'},
    {"rate", required_argument, NULL, 'r'},
    {"latency", required_argument, NULL, 'l'},
    {"scheme", required_argument, NULL, 's'},
    {"branches", required_argument, NULL, 'k'},
    {"chunk", required_argument, NULL, 'c'},
    {"pull", required_argument, NULL, 'p'},
    {"slow", required_argument, NULL, 'w'},
    {"dead", required_argument, NULL, 'd'},
    {"seed", required_argument, NULL, 'x'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Returns NULL, or what would have been right. */
static const char *take(struct options *o, int option, const char *text)
{
    struct simulation *s = &o->simulation;
    double v = 0;
    uint32_t n;

    switch (option) {
    case 'n':
        return take_whole(&o->wish.nodes, text, 1, PLAN_NODES_MAX) == 0
                   ? NULL
                   : "give 1 to 65536";
    case 'b':
        if (take_quantity(&v, text, sizes, 1, 1e15) < 0)
            return "give 1 to 1e15 bytes, as 50MB";
        o->wish.bytes = (uint64_t)v;
        return NULL;
    case 'r':
        if (take_quantity(&v, text, rates, 1e3, 1e15) < 0)
            return "give 1kbit to 1000tbit, as 10gbit";
        s->rate = v / 8;
        return NULL;
    case 'l':
        return take_quantity(&s->latency, text, times, 0, 10) == 0
                   ? NULL
                   : "give 0s to 10s, as 20us";
    case 's':
        return take_scheme(&o->scheme, text) == 0
                   ? NULL
                   : "give overlap, strict, chain, sbcast or scatter-allgather";
    case 'k':
        return take_whole(&o->wish.branches, text, 1, PLAN_NODES_MAX) == 0
                   ? NULL
                   : "give 1 to 65536";
    case 'c':
        if (take_quantity(&v, text, sizes, CHUNK_MIN, 1e9) < 0)
            return "give 1k to 4m, with sbcast up to 1GB";
        o->wish.chunk = (uint32_t)v;
        return NULL;
    case 'p':
        return take_pull(&s->way, text) == 0 ? NULL : "give chunk or node";
    case 'w':
        if (number_parse_double(text, 0, 100, &v) < 0)
            return "give 0 to 100 percent";
        s->slow = v / 100;
        return NULL;
    case 'd':
        return take_whole(&s->dead, text, 0, PLAN_NODES_MAX) == 0
                   ? NULL
                   : "give 0 to 65536";
    case 'x':
        if (take_whole(&n, text, 1, UINT32_MAX) < 0)
            return "give 1 to 4294967295";
        s->random = n;
        return NULL;
    case 'j':
        o->json = 1;
        return NULL;
    default: /* 'h' */
        o->help = 1;
        return NULL;
    }
}

static int parse(struct options *o, int argc, char **argv, struct es_error *err)
{
    const char *mend;
    int option, index = 0;

    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":", options, &index)) != -1) {
        if (option == ':' || option == '?')
            return es_fail(err, ES_USAGE, see_help, "%s: %s", argv[optind - 1],
                           option == ':' ? "a value is missing"
                                         : "no such option");
        mend = take(o, option, optarg);
        if (mend)
            return es_fail(err, ES_USAGE, mend, "--%s: \"%s\" is out of range",
                           options[index].name, optarg);
    }
    if (o->help)
        return 0;
    if (optind < argc)
        return es_fail(err, ES_USAGE, see_help,
                       "simulate bcast: unexpected argument \"%s\"",
                       argv[optind]);
    if (o->wish.nodes == 0 || o->wish.bytes == 0)
        return es_fail(err, ES_USAGE, see_help,
                       "simulate bcast needs --nodes and --bytes");
    return 0;
}

/* --- the simulation ------------------------------------------------------- */

struct outcome {
    struct simulated simulated; /* all 0 if the scheme has a formula only */
    struct plan plan;           /* likewise */
    double seconds, limit;
    double formula; /* negative: there is none */
};

static uint32_t strict_branches(const struct plan_wish *w)
{
    struct plan_wish wish = *w;
    struct plan plan;

    wish.shape = PLAN_BRANCHES;
    return plan_make(&plan, &wish, NULL) < 0 ? 1 : plan.branches;
}

static double formula(const struct options *o)
{
    const struct simulation *s = &o->simulation;
    const struct plan_wish *w = &o->wish;
    double bytes = (double)w->bytes;

    switch (o->scheme) {
    case STRICT:
        return formula_strict(bytes, s->rate, w->nodes, strict_branches(w));
    case SBCAST:
        return formula_sbcast(bytes, s->rate, s->latency, w->nodes,
                              w->branches ? w->branches : SBCAST_FANOUT,
                              w->chunk ? w->chunk : SBCAST_BLOCK);
    case SCATTER_ALLGATHER:
        return formula_scatter_allgather(bytes, s->rate, s->latency, w->nodes);
    default:
        return -1;
    }
}

static int is_simulated(enum scheme scheme)
{
    return scheme != SBCAST && scheme != SCATTER_ALLGATHER;
}

static int run(struct outcome *out, struct options *o, struct es_error *err)
{
    struct simulation *s = &o->simulation;
    struct plan_wish wish = o->wish;

    memset(out, 0, sizeof *out);
    out->limit = formula_limit((double)wish.bytes, s->rate);
    out->formula = formula(o);
    out->seconds = out->formula;
    if (!is_simulated(o->scheme)) {
        if (s->slow > 0 || s->dead > 0)
            return es_fail(err, ES_USAGE, "give another --scheme",
                           "--slow and --dead: %s is but a formula",
                           scheme_names[o->scheme]);
        return 0;
    }
    wish.shape = o->scheme == STRICT ? PLAN_BRANCHES : PLAN_STRIPES;
    s->strict = o->scheme == STRICT;
    if (o->scheme == CHAIN)
        wish.branches = 1;
    if (plan_make(&s->plan, &wish, err) < 0)
        return -1;
    out->plan = s->plan;
    if (simulate(s, &out->simulated) < 0)
        return es_no_memory(err);
    out->seconds = out->simulated.seconds;
    return 0;
}

static json_t *to_json(const struct options *o, const struct outcome *out)
{
    const struct simulated *m = &out->simulated;
    json_t *all = json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:o?, s:f}",
                            "scheme", scheme_names[o->scheme], "method",
                            is_simulated(o->scheme) ? "simulated" : "formula",
                            "nodes", (json_int_t)o->wish.nodes, "bytes",
                            (json_int_t)o->wish.bytes, "seconds", out->seconds,
                            "limit_seconds", out->limit, "formula_seconds",
                            out->formula < 0 ? NULL : json_real(out->formula),
                            "ratio", out->seconds / out->limit);

    if (all && is_simulated(o->scheme))
        (void)json_object_update_new(
            all,
            json_pack("{s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:I}",
                      "branches", (json_int_t)out->plan.branches, "chunks",
                      (json_int_t)out->plan.chunks, "chunk_bytes",
                      (json_int_t)out->plan.chunk, "fast_seconds",
                      m->fast_seconds, "unfinished_nodes",
                      (json_int_t)m->unfinished, "home_bytes_sent",
                      (json_int_t)m->home_bytes, "duplicate_bytes",
                      (json_int_t)m->duplicates, "pulls", (json_int_t)m->pulls,
                      "refused_pulls", (json_int_t)m->refused, "events",
                      (json_int_t)m->events));
    return all;
}

static int print_json(const struct options *o, const struct outcome *out)
{
    json_t *all = to_json(o, out);
    int rc = all ? json_dumpf(all, stdout, JSON_COMPACT) : -1;

    json_decref(all);
    return rc == 0 && putchar('\n') != EOF ? 0 : -1;
}

static int print_text(const struct options *o, const struct outcome *out)
{
    const struct simulated *m = &out->simulated;
    const struct plan *p = &out->plan;

    printf("%s: %.1f MB to %u nodes in %.4f s, %.3f times the limit of %.4f "
           "s%s\n",
           scheme_names[o->scheme], (double)o->wish.bytes / 1e6, o->wish.nodes,
           out->seconds, out->seconds / out->limit, out->limit,
           is_simulated(o->scheme) ? "" : " (by its formula)");
    if (!is_simulated(o->scheme))
        return 0;
    if (out->formula >= 0)
        printf("by its formula: %.4f s\n", out->formula);
    printf("%u branches, %u chunks of %u bytes; home sent %.3f times the "
           "data\n",
           p->branches, p->chunks, p->chunk,
           (double)m->home_bytes / (double)p->bytes);
    printf("%llu pulls, %llu of them refused; %.3f %% came twice\n",
           (unsigned long long)m->pulls, (unsigned long long)m->refused,
           100 * (double)m->duplicates / (double)p->bytes / p->nodes);
    if (o->simulation.slow > 0)
        printf("nodes with the full rate: %.4f s\n", m->fast_seconds);
    if (m->unfinished)
        printf("%u living nodes never had all\n", m->unfinished);
    return 0;
}

int simulate_bcast(int argc, char **argv, struct es_error *err)
{
    struct options o = {
        .simulation = {.rate = 10e9 / 8,
                       .latency = 20e-6,
                       .per_message = 1e-6,
                       .random = 1},
    };
    struct outcome out;
    int rc;

    if (parse(&o, argc, argv, err) < 0)
        return -1;
    if (o.help)
        return help_print(usage, err);
    if (run(&out, &o, err) < 0)
        return -1;
    rc = o.json ? print_json(&o, &out) : print_text(&o, &out);
    if (rc < 0 || fflush(stdout) != 0)
        return es_no_space(err);
    return 0;
}
