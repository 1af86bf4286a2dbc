/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/simulations.h"

#include "launcher/base/options.h"
#include "launcher/wire/table_tree.h"
#include "pmix_bcast/formula.h"
#include "pmix_bcast/simulate.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define SCHEME_WORDS "overlap|strict|chain|sbcast|scatter-allgather"
enum scheme { OVERLAP, STRICT, CHAIN, SBCAST, SCATTER_ALLGATHER, SCHEMES };
static const char *const scheme_names[SCHEMES] = {
    "overlap", "strict", "chain", "sbcast", "scatter-allgather"};

/* Defaults of sbcast: TreeWidth, and the block size of BcastParameters. */
#define SBCAST_FANOUT 50
#define SBCAST_BLOCK  (8u << 20)
/* Of an order, its envelope and its tag, with a destination of some length. */
#define ORDER_BYTES 300

struct options {
    struct plan_wish wish;
    struct simulation simulation;
    enum scheme scheme;
    double slow; /* percent */
    int json;
};

/* --- options -------------------------------------------------------------- */

#define AT(member) OPTION_AT(struct options, member)

/* clang-format off */
static const struct option options[] = {
    {OPTION_COUNT, "nodes", "N", AT(wish.nodes), .low = 1,
     .high = PLAN_NODES_MAX, .required = 1, .help = "receivers"},
    {OPTION_SIZE, "bytes", "B", AT(wish.bytes), .low = 1, .high = 1e15,
     .required = 1, .help = "also 50MB, 1GiB, …"},
    {OPTION_RATE, "rate", "R", AT(simulation.rate), .low = 125, .high = 125e12,
     .def = "10gbit", .help =
     "of every link and direction: 125M bytes a second, or 100mbit"},
    {OPTION_SECONDS, "latency", "L", AT(simulation.latency), .high = 10,
     .def = "20us", .help = "20us, 1ms, …"},
    {OPTION_WORD, "scheme", SCHEME_WORDS, AT(scheme), .def = "overlap", .help =
     "overlap: as `evenstep bcast`; strict: as `evenstep bcast --strict`; "
     "chain: from node to node; sbcast, scatter-allgather: by their formulas "
     "only"},
    {OPTION_COUNT, "branches", "K", AT(wish.branches), .low = 1,
     .high = PLAN_NODES_MAX, .help = "nodes that the front end sends to itself (as is best)"},
    {OPTION_SIZE, "chunk", "SIZE", AT(wish.chunk), .low = CHUNK_MIN,
     .high = 1e9, .help =
     "bytes of a chunk, 1Ki to 4Mi; with sbcast, of a block (as is best)"},
    {OPTION_WORD, "pull", "turn|chunk|node", AT(simulation.way), .def = "turn",
     .help = "with strict: each asks another in turn; or by lot, first for the chunk or the node"},
    {OPTION_NUMBER, "slow", "P", AT(slow), .high = 100, .help =
     "percent of the nodes have a quarter of the rate (0)"},
    {OPTION_COUNT, "dead", "K", AT(simulation.dead), .high = PLAN_NODES_MAX,
     .help = "nodes that die half-way (0)"},
    {OPTION_COUNT, "seed", "S", AT(simulation.random), .low = 1,
     .high = UINT32_MAX, .def = "1", .help = "of the random choices"},
    {OPTION_FLAG, "json", NULL, AT(json), .help = "print one JSON object"},
    {.type = OPTION_END},
};
/* clang-format on */

/* --- the simulation ------------------------------------------------------- */

struct outcome {
    struct simulated simulated; /* all 0 if the scheme has a formula only */
    struct plan plan;           /* likewise */
    double seconds, limit;
    double formula; /* negative: there is none */
    double orders;  /* of seconds: until the last node has its order */
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

static int simulate_scheme(struct outcome *out,
                           struct options *o,
                           struct es_error *err)
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
                           "--slow and --dead: %s is only a formula",
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
    if (o->scheme != CHAIN)
        out->orders =
            formula_orders(ORDER_BYTES, s->rate, s->latency, s->per_message,
                           wish.nodes, TABLE_BRANCHES);
    out->seconds = out->orders + out->simulated.seconds;
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
            json_pack("{s:f, s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:I}",
                      "orders_seconds", out->orders, "branches",
                      (json_int_t)out->plan.branches, "chunks",
                      (json_int_t)out->plan.chunks, "chunk_bytes",
                      (json_int_t)out->plan.chunk, "fast_seconds",
                      out->orders + m->fast_seconds, "unfinished_nodes",
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
        printf("nodes with the full rate: %.4f s\n",
               out->orders + m->fast_seconds);
    if (m->unfinished)
        printf("%u living nodes never had all\n", m->unfinished);
    return 0;
}

static int simulate_bcast_main(int argc, char **argv, struct es_error *err)
{
    struct options o = {.simulation = {.per_message = 1e-6}};
    struct outcome out;
    int rc = options_parse(&simulate_bcast, &o, argc, argv, err);

    if (rc != 0)
        return rc;
    o.simulation.slow = o.slow / 100;
    if (simulate_scheme(&out, &o, err) < 0)
        return -1;
    rc = o.json ? print_json(&o, &out) : print_text(&o, &out);
    if (rc < 0 || fflush(stdout) != 0)
        return es_no_space(err);
    return 0;
}

const struct subcommand simulate_bcast = {
    .name = "simulate bcast",
    .about =
        "Simulate a broadcast, event by event, with the planner, estimator, pulls\n"
        "and relays of the real one, over modelled links.\n",
    .option = options,
    .run = simulate_bcast_main,
};
