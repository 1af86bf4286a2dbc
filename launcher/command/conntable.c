/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep conntable: prints the connection table of a step, or the entry of
 * one task.
 */
#include "pmix_bcast/conntable.h"
#include "launcher/base/number.h"
#include "launcher/base/options.h"
#include "launcher/commands.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    int lookup, json;
    uint32_t rank;
    const char *file;
};

/* --- options -------------------------------------------------------------- */

/* clang-format off */
static const struct option options[] = {
    {OPTION_FLAG, "json", NULL, OPTION_AT(struct options, json), .help =
     "one JSON object for each task"},
    {.type = OPTION_END},
};
/* clang-format on */

static int take_words(struct options *o, char **words, struct es_error *err)
{
    int64_t rank;

    o->lookup = strcmp(*words++, "lookup") == 0;
    if (o->lookup && !*words)
        return es_fail(err, ES_USAGE, "give a whole number from 0",
                       "conntable lookup: no RANK");
    if (o->lookup && number_parse_int(*words, 0, UINT32_MAX, &rank) < 0)
        return es_fail(err, ES_USAGE, "give a whole number from 0",
                       "conntable lookup: \"%s\" is no rank", *words);
    if (o->lookup) {
        o->rank = (uint32_t)rank;
        words++;
    }
    o->file = *words;
    if (o->file && words[1])
        return es_fail(err, ES_USAGE, "give one FILE",
                       "conntable: unexpected argument \"%s\"", words[1]);
    return 0;
}

/* --- one task ------------------------------------------------------------- */

static const char *ip_text(const uint8_t ip[16], char text[INET6_ADDRSTRLEN])
{
    struct in6_addr a;

    memcpy(&a, ip, sizeof a);
    return IN6_IS_ADDR_V4MAPPED(&a)
               ? inet_ntop(AF_INET, ip + 12, text, INET6_ADDRSTRLEN)
               : inet_ntop(AF_INET6, ip, text, INET6_ADDRSTRLEN);
}

/* A GID is written like an IPv6 address. */
static const char *address_text(const struct adapter *a,
                                char text[INET6_ADDRSTRLEN])
{
    return a->link == ADAPTER_IP
               ? ip_text(a->address, text)
               : inet_ntop(AF_INET6, a->address, text, INET6_ADDRSTRLEN);
}

static int print_head(void)
{
    return printf("%8s %6s %5s %6s %-10s %-16s %10s %3s %4s %6s %5s %-15s %s\n",
                  "rank", "node", "local", "window", "link", "network", "lid",
                  "lmc", "port", "Mbit/s", "TCP", "IP", "address");
}

static int print_line(uint32_t rank, const struct conntable_entry *e)
{
    char ip[INET6_ADDRSTRLEN], address[INET6_ADDRSTRLEN];
    const struct adapter *a = &e->adapter;

    return printf(
        "%8" PRIu32 " %6" PRIu32 " %5u %6u %-10s %016" PRIx64 " %#10" PRIx32
        " %3u %4" PRIu32 " %6" PRIu32 " %5u %-15s %s\n",
        rank, e->node, e->local_rank, e->window, adapter_link_name(a->link),
        a->network, a->lid, a->lmc, a->port, a->rate_mbps, a->tcp_port,
        ip_text(a->ip, ip), address_text(a, address));
}

static int print_json(uint32_t rank,
                      const struct conntable_entry *e,
                      enum conntable_ports ports)
{
    char ip[INET6_ADDRSTRLEN], address[INET6_ADDRSTRLEN], network[17];
    const struct adapter *a = &e->adapter;
    json_t *all;
    int rc;

    snprintf(network, sizeof network, "%016" PRIx64, a->network);
    all = json_pack(
        "{s:I, s:I, s:i, s:i, s:s, s:s, s:s, s:I, s:i, s:I, s:I, "
        "s:s, s:i, s:s}",
        "rank", (json_int_t)rank, "node", (json_int_t)e->node, "local_rank",
        (int)e->local_rank, "window", (int)e->window, "link",
        adapter_link_name(a->link), "network", network, "address",
        address_text(a, address), "lid", (json_int_t)a->lid, "lmc", (int)a->lmc,
        "port", (json_int_t)a->port, "rate_mbps", (json_int_t)a->rate_mbps,
        "ip", ip_text(a->ip, ip), "tcp_port", (int)a->tcp_port, "tcp_port_of",
        ports == CONNTABLE_OF_TASKS ? "task" : "node");
    rc = all ? json_dumpf(all, stdout, JSON_COMPACT) : -1;
    json_decref(all);
    return rc == 0 && putchar('\n') != EOF ? 0 : -1;
}

/* --- the table ------------------------------------------------------------ */

static int print_ranks(const struct options *o,
                       const struct conntable *t,
                       uint32_t begin,
                       uint32_t end,
                       struct es_error *err)
{
    struct conntable_entry e;
    int rc = o->json ? 0 : print_head();

    for (uint32_t rank = begin; rank < end && rc >= 0; rank++) {
        if (conntable_lookup(t, rank, &e) < 0)
            return es_fail(err, ES_WORK, "make the table again",
                           "%s: the entry of rank %" PRIu32 " is not valid",
                           o->file, rank);
        rc = o->json ? print_json(rank, &e, t->ports) : print_line(rank, &e);
    }
    return rc >= 0 && fflush(stdout) == 0 ? 0 : es_no_space(err);
}

static int print_table(const struct options *o,
                       const struct conntable *t,
                       struct es_error *err)
{
    if (!o->lookup)
        return print_ranks(o, t, 0, t->tasks, err);
    if (o->rank < t->tasks)
        return print_ranks(o, t, o->rank, o->rank + 1, err);
    return es_fail(err, ES_WORK, "give a rank below the number of tasks",
                   "%s: no rank %" PRIu32 " among %" PRIu32 " tasks", o->file,
                   o->rank, t->tasks);
}

/* The table of the step that this runs in. */
static int own_table(struct options *o,
                     char path[PATH_MAX],
                     struct es_error *err)
{
    const char *dir = getenv("EVENSTEP_DIR");
    int n;

    if (!dir)
        return es_fail(err, ES_USAGE, "name a FILE, or run it in a step",
                       "conntable: no FILE, and EVENSTEP_DIR is not set");
    n = snprintf(path, PATH_MAX, "%s/conntable", dir);
    if (n < 0 || n >= PATH_MAX)
        return es_fail(err, ES_USAGE, "name a FILE",
                       "EVENSTEP_DIR is too long");
    o->file = path;
    return 0;
}

static int conntable_main(int argc, char **argv, struct es_error *err)
{
    struct options o = {0};
    struct conntable t;
    char path[PATH_MAX];
    int rc = options_parse(&command_conntable, &o, argc, argv, err);

    if (rc != 0)
        return rc;
    if (take_words(&o, argv + 1, err) < 0
        || (!o.file && own_table(&o, path, err) < 0)
        || conntable_open(&t, o.file, CONNTABLE_DIGEST, err) < 0)
        return -1;
    rc = print_table(&o, &t, err);
    conntable_close(&t);
    return rc;
}

const struct subcommand command_conntable = {
    .name = "conntable",
    .brief = "print a step's connection table",
    .usage = "evenstep conntable dump [--json] [FILE]\n"
             "       evenstep conntable lookup [--json] RANK [FILE]",
    .about =
        "Print how the tasks of a step are reached, or the task of one rank.  FILE is\n"
        "$EVENSTEP_DIR/conntable if it is not given.\n",
    .option = options,
    .operands = "dump|lookup [RANK|FILE] [FILE]",
    .run = conntable_main,
};
