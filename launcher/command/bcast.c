/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep bcast: brings a file to every node of the allocation, as sbcast
 * does, but near the speed of the wire.
 */
#include "launcher/base/help.h"
#include "launcher/base/notice.h"
#include "launcher/base/number.h"
#include "launcher/commands.h"
#include "launcher/config/config_file.h"
#include "launcher/session/broadcast.h"
#include "launcher/session/front.h"

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOCAL_MAX 1024

static const char see_help[] = "see `evenstep bcast --help`";

static const char usage[] =
    "usage: evenstep bcast [options] SRC DST\n"
    "\n"
    "Copy the file SRC to DST on every node of the allocation.  DST keeps "
    "SRC's\n"
    "mode; {node} in it is the node's name.  It appears on a node when it is\n"
    "whole and its digests are right, never before.\n"
    "\n"
    "as with sbcast:\n"
    "  -f, --force          replace DST where it exists\n"
    "  -p, --preserve       keep SRC's time of change, too\n"
    "  -F, --fanout K       nodes that are served by this host itself (as it\n"
    "                       is best); also --branches K\n"
    "  -s, --size SIZE      bytes of a chunk, with k or m behind, 1k to 4m "
    "(as\n"
    "                       it is best); also --chunk SIZE\n"
    "  -t, --timeout SEC    give a node up that makes no progress for so long "
    "(10; at\n"
    "                       least 3: a node reports every second)\n"
    "besides:\n"
    "  --no-sync            DST need not be on the disk when this command "
    "ends\n"
    "  --verify             read DST back on every node before it counts\n"
    "  --strict             the tree and pull as published (CN 102486739)\n"
    "  --pull chunk|node    with --strict: choose first the chunk, or the "
    "node\n"
    "  --json               print what was done as one JSON object\n"
    "  --local N            no Slurm: N agents here\n"
    "  --srun \"ARGS\"        passed to the step of the agents\n";

struct options {
    const char *srun;
    char destination[DESTINATION_MAX];
    struct bcast_wish setup;
    size_t local;
    int json, help;
};

struct command {
    const struct options *o;
    struct config config;
    struct es_error *err;
    struct front front;
    struct broadcast broadcast;
};

/* --- options -------------------------------------------------------------- */

enum option_code {
    OPT_NO_SYNC = 256,
    OPT_VERIFY,
    OPT_STRICT,
    OPT_PULL,
    OPT_JSON,
    OPT_LOCAL,
    OPT_SRUN,
    OPT_HELP
};

static const struct option options[] = {
    {"force", no_argument, NULL, 'f'},
    {"preserve", no_argument, NULL, 'p'},
    {"fanout", required_argument, NULL, 'F'},
    {"branches", required_argument, NULL, 'F'},
    {"size", required_argument, NULL, 's'},
    {"chunk", required_argument, NULL, 's'},
    {"timeout", required_argument, NULL, 't'},
    {"no-sync", no_argument, NULL, OPT_NO_SYNC},
    {"verify", no_argument, NULL, OPT_VERIFY},
    {"strict", no_argument, NULL, OPT_STRICT},
    {"pull", required_argument, NULL, OPT_PULL},
    {"json", no_argument, NULL, OPT_JSON},
    {"local", required_argument, NULL, OPT_LOCAL},
    {"srun", required_argument, NULL, OPT_SRUN},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static int bad(struct es_error *err,
               const char *option,
               const char *text,
               const char *mend)
{
    return es_fail(err, ES_USAGE, mend, "%s: \"%s\" is out of range", option,
                   text);
}

static int take_number(uint32_t *v, int64_t low, int64_t high, const char *text)
{
    int64_t n;

    if (number_parse_int(text, low, high, &n) < 0)
        return -1;
    *v = (uint32_t)n;
    return 0;
}

static int take_size(uint32_t *v, const char *text)
{
    size_t len = strlen(text);
    char digits[16];
    int64_t n, unit = 1;

    if (len > 0 && strchr("kKmM", text[len - 1]))
        unit = strchr("kK", text[--len]) ? 1024 : 1024 * 1024;
    if (len >= sizeof digits)
        return -1;
    memcpy(digits, text, len);
    digits[len] = '\0';
    if (number_parse_int(digits, 1, CHUNK_MAX, &n) < 0
        || n * unit < (int64_t)CHUNK_MIN || n * unit > (int64_t)CHUNK_MAX)
        return -1;
    *v = (uint32_t)(n * unit);
    return 0;
}

static int take_pull(struct options *o, const char *text, struct es_error *err)
{
    if (strcmp(text, "chunk") == 0)
        o->setup.way = PULL_BY_CHUNK;
    else if (strcmp(text, "node") == 0)
        o->setup.way = PULL_BY_NODE;
    else
        return es_fail(err, ES_USAGE, "give chunk or node",
                       "--pull: \"%s\" is unknown", text);
    return 0;
}

static int take(struct options *o,
                int option,
                const char *text,
                struct es_error *err)
{
    uint32_t n;

    switch (option) {
    case 'f':
        o->setup.flags |= ORDER_FORCE;
        return 0;
    case 'p':
        o->setup.flags |= ORDER_TIMES;
        return 0;
    case OPT_NO_SYNC:
        o->setup.flags &= ~(uint32_t)ORDER_SYNC;
        return 0;
    case OPT_VERIFY:
        o->setup.flags |= ORDER_VERIFY;
        return 0;
    case OPT_STRICT:
        o->setup.flags |= ORDER_STRICT;
        return 0;
    case OPT_JSON:
        o->json = 1;
        return 0;
    case OPT_HELP:
        o->help = 1;
        return 0;
    case OPT_SRUN:
        o->srun = text;
        return 0;
    case OPT_PULL:
        return take_pull(o, text, err);
    case 'F':
        return take_number(&o->setup.branches, 1, PLAN_NODES_MAX, text) == 0
                   ? 0
                   : bad(err, "--fanout", text, "give 1 to 65536");
    case 's':
        return take_size(&o->setup.chunk, text) == 0
                   ? 0
                   : bad(err, "--size", text, "give 1k to 4m");
    case 't':
        return number_parse_double(text, 3, 1e6, &o->setup.timeout_s) == 0
                   ? 0
                   : bad(err, "--timeout", text, "give 3 to 1e6 seconds");
    default: /* OPT_LOCAL */
        if (take_number(&n, 1, LOCAL_MAX, text) < 0)
            return bad(err, "--local", text, "give 1 to 1024 agents");
        o->local = n;
        return 0;
    }
}

static int take_paths(struct options *o,
                      int argc,
                      char **argv,
                      struct es_error *err)
{
    if (argc != 2)
        return es_fail(err, ES_USAGE, see_help, "%s",
                       argc < 2 ? "bcast needs SRC and DST"
                                : "bcast takes one SRC and one DST");
    o->setup.source = argv[0];
    if (broadcast_destination(o->destination, argv[1], err) < 0)
        return -1;
    if (o->local > 1 && !strstr(o->destination, "{node}"))
        return es_fail(err, ES_USAGE, "give DST with {node} in it",
                       "with --local all nodes would write the same file");
    o->setup.destination = o->destination;
    return 0;
}

static int parse(struct options *o, int argc, char **argv, struct es_error *err)
{
    int option;

    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":fpF:s:t:", options, NULL))
           != -1) {
        if (option == ':')
            return es_fail(err, ES_USAGE, see_help, "%s: a value is missing",
                           argv[optind - 1]);
        if (option == '?')
            return es_fail(err, ES_USAGE, see_help, "%s: no such option",
                           argv[optind - 1]);
        if (take(o, option, optarg, err) < 0)
            return -1;
    }
    if (o->help)
        return 0;
    return take_paths(o, argc - optind, argv + optind, err);
}

/* --- results
 * ------------------------------------------------------------------ */

static json_t *node_seconds(const struct command *c,
                            const struct bcast_result *r)
{
    json_t *all = json_object();

    for (uint32_t v = 0; v < r->plan.nodes; v++)
        (void)json_object_set_new(all, session_node(c->front.session, v)->name,
                                  r->node[v].seconds >= 0
                                      ? json_real(r->node[v].seconds)
                                      : json_null());
    return all;
}

static int print_json(const struct command *c, const struct bcast_result *r)
{
    json_t *all = json_pack(
        "{s:I, s:I, s:f, s:n, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "bytes",
        (json_int_t)r->plan.bytes, "nodes", (json_int_t)r->plan.nodes,
        "seconds", r->seconds, "limit_seconds", "chunks",
        (json_int_t)r->plan.chunks, "chunk_bytes", (json_int_t)r->plan.chunk,
        "home_bytes_sent", (json_int_t)r->home_bytes, "duplicate_bytes",
        (json_int_t)r->duplicates, "pulls", (json_int_t)r->pulls,
        "refused_pulls", (json_int_t)r->refused, "node_seconds",
        node_seconds(c, r));
    int rc = all ? json_dumpf(all, stdout, JSON_COMPACT) : -1;

    json_decref(all);
    return rc == 0 && putchar('\n') != EOF && fflush(stdout) == 0 ? 0 : -1;
}

static int results(struct command *c)
{
    struct bcast_result r = bcast_home_result(c->broadcast.home);
    int rc = broadcast_check(&c->broadcast, c->err);

    if (r.err->kind != ES_OK)
        return -1;
    if (c->o->json && print_json(c, &r) < 0 && rc == 0)
        return es_no_space(c->err);
    if (!c->o->json && rc == 0)
        notice("%.1f MB to %u nodes in %.3f s", (double)r.plan.bytes / 1e6,
               r.plan.nodes, r.seconds);
    return rc;
}

/* --- the session
 * ---------------------------------------------------------------- */

static void on_ended(void *arg)
{
    struct command *c = arg;

    front_finish(&c->front, results(c));
}

static void on_ready(void *arg)
{
    struct command *c = arg;

    if (broadcast_start(&c->broadcast, c->front.base, c->front.session,
                        &c->o->setup, on_ended, c, c->err)
        < 0)
        front_finish(&c->front, 1);
}

static void on_message(
    void *arg, size_t node, uint16_t type, const uint8_t *body, size_t len)
{
    struct command *c = arg;

    (void)broadcast_message(&c->broadcast, node, type, body, len);
}

static void on_lost(void *arg, size_t node, const char *why)
{
    struct command *c = arg;

    broadcast_lost(&c->broadcast, node, why);
}

static const struct session_events session_events = {
    .ready = on_ready,
    .message = on_message,
    .lost = on_lost,
};

static int start(struct command *c)
{
    struct session_setup setup = {.local = c->o->local,
                                  .place.srun_args = c->o->srun};

    if (front_begin(&c->front, c->err) < 0
        || front_catch(&c->front, "nothing is left half-written") < 0)
        return -1;
    return front_open(&c->front, &c->config, &setup, &session_events, c);
}

static void clear(struct command *c)
{
    broadcast_stop(&c->broadcast);
    front_close(&c->front);
    front_end(&c->front);
}

int command_bcast(int argc, char **argv, struct es_error *err)
{
    struct options o = {0};
    struct command c = {.o = &o, .err = err};
    int rc;

    if (config_load(&c.config, NULL, err) < 0)
        return -1;
    o.setup = broadcast_wish(&c.config.bcast, ORDER_SYNC);
    if (parse(&o, argc, argv, err) < 0)
        return -1;
    if (o.help)
        return help_print(usage, err);
    /* Before the agents are started: it is the most common mistake. */
    if (broadcast_source(o.setup.source, err) < 0 || start(&c) < 0)
        front_finish(&c.front, 1);
    rc = front_run(&c.front);
    clear(&c);
    return rc;
}
