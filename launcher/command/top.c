/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep top: what the user has at work, and how its nodes stand.
 */
#include "launcher/base/number.h"
#include "launcher/base/options.h"
#include "launcher/command/top_export.h"
#include "launcher/command/top_metrics.h"
#include "launcher/command/top_page.h"
#include "launcher/command/top_screen.h"
#include "launcher/commands.h"

#include <stdio.h>
#include <stdlib.h>

struct options {
    const char *metrics, *export;
    int once;
};

#define AT(member) OPTION_AT(struct options, member)

/* clang-format off */
static const struct option options[] = {
    {OPTION_FLAG, "once", NULL, AT(once), .help = "print them once, and end"},
    {OPTION_TEXT, "metrics-file", "FILE", AT(metrics), .file = OPTION_WRITES, .help =
     "write them for Prometheus, too"},
    {OPTION_TEXT, "prometheus", "PORT|FILE", AT(export), .file = OPTION_WRITES, .excludes = "once",
     .help = "show nothing, but serve http://127.0.0.1:PORT/metrics, or keep FILE "
     "up to date for node_exporter's textfile collector, until a signal comes"},
    {.type = OPTION_END},
};
/* clang-format on */

static int print_step(struct top_step *step)
{
    struct top_page page = {.n = 0};
    int bad = 0;

    top_page_progress(&page, step, TOP_LINE - 1);
    top_page_parts(&page, step, TOP_BY_LAG, TOP_COLUMNS);
    top_page_meters(&page, step, TOP_BY_NAME, TOP_LINE - 1, step->n);
    for (size_t i = 0; i < page.n; i++)
        bad |= printf("%s\n", page.line[i]) < 0;
    top_page_clear(&page);
    return bad ? -1 : 0;
}

static int once(const struct options *o, uint32_t job, struct es_error *err)
{
    struct top_step *steps;
    size_t n = top_steps_find(&steps, job);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = print_step(&steps[i]);
    if (rc < 0 || fflush(stdout) != 0)
        rc = es_no_space(err);
    if (rc == 0 && o->metrics)
        rc = top_metrics_write(o->metrics, steps, n, err);
    top_steps_free(steps, n);
    if (rc == 0 && n == 0)
        return es_fail(
            err, ES_ENV,
            "run it where your evenstep run, bcast or graph runs, or "
            "srun --evenstep of a program that is metered",
            "top: nothing of yours is at work here");
    return rc;
}

static int top_main(int argc, char **argv, struct es_error *err)
{
    struct options o = {0};
    int64_t job = 0; /* all */
    int rc = options_parse(&command_top, &o, argc, argv, err);

    if (rc != 0)
        return rc;
    if (argv[1] && number_parse_int(argv[1], 1, UINT32_MAX, &job) < 0)
        return es_fail(err, ES_USAGE, "give the number of a job",
                       "top: \"%s\" is no job", argv[1]);
    if (o.export)
        return top_export(o.export, (uint32_t)job, err);
    return o.once ? once(&o, (uint32_t)job, err)
                  : top_screen((uint32_t)job, o.metrics, err);
}

const struct subcommand command_top = {
    .name = "top",
    .brief = "what you have at work, and how its nodes stand",
    .about =
        "A live view of what you have at work on this host: each `evenstep run`,\n"
        "`bcast` and `graph run`, with every node's part, its speed and the time\n"
        "left, and steps under `srun --evenstep` that are metered.  All of yours, or\n"
        "those of one job.  Run it on the host where these commands run.\n",
    .option = options,
    .end =
        "Keys: Tab shows the next of several; b, n, s, w, l sort by who is last,\n"
        "name, speed, waiting, limit; m shows what is metered; arrows, Page Up and\n"
        "Page Down scroll; q ends.\n",
    .operands = "[JOBID]",
    .run = top_main,
};
