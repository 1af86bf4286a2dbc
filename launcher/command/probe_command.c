/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep probe: what this node, or every node of the allocation, can do.
 */
#include "launcher/base/help.h"
#include "launcher/base/notice.h"
#include "launcher/base/number.h"
#include "launcher/command/probe_here.h"
#include "launcher/command/probe_print.h"
#include "launcher/commands.h"
#include "launcher/config/config_file.h"
#include "launcher/session/front.h"
#include "launcher/session/qualification.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOCAL_MAX 1024

static const char see_help[] = "see `evenstep probe --help`";

static const char usage[] =
    "usage: evenstep probe [options]\n"
    "\n"
    "Measure what a node can do, in about a second: C CPU, M memory, I\n"
    "interconnect, B bus, S storage, G GPU.  What cannot be measured is named\n"
    "with the reason.  Where root keeps results in the site's cache they are\n"
    "shown instead.\n"
    "\n"
    "which nodes:\n"
    "  (neither)            this one, and by no other\n"
    "  --nodes              every node of the allocation, their links too\n"
    "  --local N            N agents here, as `evenstep run --local` has them\n"
    "what:\n"
    "  --elements E,E,...   these only, of C,M,I,B,S,G\n"
    "  --fresh              measure, whatever the cache has.  Run by root\n"
    "                       outside of a job, what this node measures is kept\n"
    "                       in the cache\n"
    "results:\n"
    "  --json               print one JSON object; it is a metrics FILE, too\n"
    "  --check              exit 1 if a node is an outlier: far from the "
    "median\n"
    "                       of its kind.  Each is named in any case\n"
    "  --srun \"ARGS\"        with --nodes: passed to the step of the agents\n"
    "\n"
    "exit status: 0 measured, 1 --check has found one, 2 usage, 3 no Slurm or\n"
    "agents, or what root measured cannot be kept\n";

struct options {
    const char *srun;
    unsigned elements;
    size_t local;
    int nodes, fresh, json, check, help;
};

struct command {
    const struct options *o;
    struct config config; /* its elements are those that were asked for */
    struct es_error *err;
    struct front front;
    struct qualification_setup setup;
    struct qualification qualification;
};

/* --- options -------------------------------------------------------------- */

enum option_code {
    OPT_NODES = 256,
    OPT_LOCAL,
    OPT_ELEMENTS,
    OPT_FRESH,
    OPT_JSON,
    OPT_CHECK,
    OPT_SRUN,
    OPT_HELP
};

static const struct option options[] = {
    {"nodes", no_argument, NULL, OPT_NODES},
    {"local", required_argument, NULL, OPT_LOCAL},
    {"elements", required_argument, NULL, OPT_ELEMENTS},
    {"fresh", no_argument, NULL, OPT_FRESH},
    {"json", no_argument, NULL, OPT_JSON},
    {"check", no_argument, NULL, OPT_CHECK},
    {"srun", required_argument, NULL, OPT_SRUN},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static int take_elements(struct options *o,
                         const char *text,
                         struct es_error *err)
{
    const char *at = text;

    o->elements = 0;
    for (;; at += 2) {
        enum element e = *at ? element_of(*at) : ELEMENTS;

        if (e == ELEMENTS || (at[1] && at[1] != ','))
            return es_fail(err, ES_USAGE, "give some of C,M,I,B,S,G",
                           "--elements: \"%s\" is no list of elements", text);
        o->elements |= PROBE_BIT(e);
        if (!at[1])
            return 0;
    }
}

static int take_local(struct options *o, const char *text, struct es_error *err)
{
    int64_t n;

    if (number_parse_int(text, 1, LOCAL_MAX, &n) < 0)
        return es_fail(err, ES_USAGE, "give 1 to 1024 agents",
                       "--local: \"%s\" is out of range", text);
    o->local = (size_t)n;
    return 0;
}

static int take(struct options *o,
                int option,
                const char *text,
                struct es_error *err)
{
    switch (option) {
    case OPT_NODES:
        o->nodes = 1;
        return 0;
    case OPT_LOCAL:
        return take_local(o, text, err);
    case OPT_ELEMENTS:
        return take_elements(o, text, err);
    case OPT_FRESH:
        o->fresh = 1;
        return 0;
    case OPT_JSON:
        o->json = 1;
        return 0;
    case OPT_CHECK:
        o->check = 1;
        return 0;
    case OPT_SRUN:
        o->srun = text;
        return 0;
    default: /* OPT_HELP */
        o->help = 1;
        return 0;
    }
}

static int parse(struct options *o, int argc, char **argv, struct es_error *err)
{
    int option;

    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        if (option == ':' || option == '?')
            return es_fail(err, ES_USAGE, see_help, "%s: %s", argv[optind - 1],
                           option == ':' ? "a value is missing"
                                         : "no such option");
        if (take(o, option, optarg, err) < 0)
            return -1;
    }
    if (o->help)
        return 0;
    if (optind < argc)
        return es_fail(err, ES_USAGE, see_help,
                       "probe: unexpected argument \"%s\"", argv[optind]);
    if (o->local && o->nodes)
        return es_fail(err, ES_USAGE, "give one of them",
                       "--nodes and --local exclude each other");
    if (o->srun && !o->nodes)
        return es_fail(err, ES_USAGE, "give --nodes, too",
                       "--srun is for the step of the agents");
    return 0;
}

/* --- results -------------------------------------------------------------- */

static int say_outliers(const struct command *c,
                        const struct probe_node_view node[],
                        const struct outlier outlier[],
                        size_t count)
{
    char text[200];

    for (size_t i = 0; i < count; i++) {
        probe_outlier_text(text, node, &outlier[i]);
        notice("warning: %s", text);
    }
    if (count == 0 || !c->o->check)
        return 0;
    return es_fail(c->err, ES_WORK, "look at the nodes named above",
                   "%zu results are outliers", count);
}

static int show(struct command *c,
                const struct probe_node_view node[],
                size_t n)
{
    struct outlier *outlier = NULL;
    size_t count;
    int rc;

    if (probe_outliers(node, n, &c->config.probe, &outlier, &count) < 0)
        rc = es_no_memory(c->err);
    else if ((c->o->json ? probe_print_json(node, n, outlier, count)
                         : probe_print_table(node, n))
             < 0)
        rc = es_no_space(c->err);
    else
        rc = say_outliers(c, node, outlier, count);
    free(outlier);
    return rc;
}

static int show_all(struct command *c)
{
    const struct qualification *q = &c->qualification;
    struct probe_node_view *node = calloc(q->n, sizeof *node);
    int rc;

    if (!node)
        return es_no_memory(c->err);
    for (size_t i = 0; i < q->n; i++) {
        node[i].name = session_node(c->front.session, i)->name;
        node[i].cached = q->answer[i].cached != 0;
        snprintf(node[i].why, sizeof node[i].why, "%s", q->answer[i].text);
        memcpy(node[i].hardware, q->answer[i].hardware,
               sizeof node[i].hardware);
        memcpy(node[i].result, q->result[i], sizeof node[i].result);
        memcpy(node[i].metrics, q->measured[i], sizeof node[i].metrics);
    }
    rc = show(c, node, q->n);
    free(node);
    return rc;
}

/* --- the session ---------------------------------------------------------- */

static void on_ready(void *arg)
{
    struct command *c = arg;

    if (qualification_start(&c->qualification, c->front.session, &c->setup,
                            c->err)
        < 0)
        front_finish(&c->front, 1);
}

static void on_message(
    void *arg, size_t node, uint16_t type, const uint8_t *body, size_t len)
{
    struct command *c = arg;

    if (qualification_message(&c->qualification, node, type, body, len)
        && c->qualification.missing == 0)
        front_finish(&c->front, show_all(c));
}

static void on_lost(void *arg, size_t node, const char *why)
{
    struct command *c = arg;

    notice("%s is lost: %s", session_node(c->front.session, node)->name, why);
    qualification_lost(&c->qualification, node);
    if (c->qualification.missing == 0)
        front_finish(&c->front, show_all(c));
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

    if (!setup.local && companion_job_from_environ() == 0)
        return es_fail(c->err, ES_ENV, "run it inside salloc or sbatch",
                       "--nodes: no allocation");
    c->setup = (struct qualification_setup){
        .source = c->o->fresh ? METRICS_PROBE : METRICS_CACHED,
        .probe = &c->config.probe,
        .ring = 1};
    if (front_begin(&c->front, c->err) < 0
        || front_catch(&c->front, "nothing is left running") < 0)
        return -1;
    return front_open(&c->front, &c->config, &setup, &session_events, c);
}

static int probe_all(struct command *c)
{
    int rc;

    if (start(c) < 0)
        front_finish(&c->front, 1);
    rc = front_run(&c->front);
    front_close(&c->front);
    qualification_clear(&c->qualification);
    front_end(&c->front);
    return rc;
}

/* --- this node ------------------------------------------------------------ */

static int probe_this(struct command *c)
{
    struct probe_node_view node;
    char name[64];
    unsigned elements =
        c->o->elements ? c->o->elements : c->config.probe.elements;

    if (probe_here(&node, name, &c->config.probe, elements, c->o->fresh, c->err)
        < 0)
        return -1;
    for (int e = 0; e < ELEMENTS; e++)
        node.metrics[e] = node.result[e].state == PROBE_MEASURED
                              ? node.result[e].value
                              : (double)NAN;
    return show(c, &node, 1);
}

int command_probe(int argc, char **argv, struct es_error *err)
{
    struct options o = {0};
    struct command c = {.o = &o, .err = err};

    if (config_load(&c.config, NULL, err) < 0 || parse(&o, argc, argv, err) < 0)
        return -1;
    if (o.help)
        return help_print(usage, err);
    if (!o.nodes && !o.local)
        return probe_this(&c);
    if (o.elements)
        c.config.probe.elements = o.elements;
    return probe_all(&c);
}
