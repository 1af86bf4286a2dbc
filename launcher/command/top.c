/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep top: the progress of the nodes of running steps.
 */
#include "launcher/base/help.h"
#include "launcher/base/number.h"
#include "launcher/command/top_print.h"
#include "launcher/command/top_screen.h"
#include "launcher/commands.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "usage: evenstep top [options] [JOBID]\n"
    "\n"
    "A live view of steps under `srun --evenstep` that report progress by\n"
    "libevenstep, and of `evenstep run --meter`; run it where these run.  All\n"
    "of yours, or those of one job.\n"
    "\n"
    "  --once               print them once, and end\n"
    "  --metrics-file FILE  write them for Prometheus, too\n"
    "\n"
    "Keys: n, s, w, l sort by name, speed, waiting, limit; q ends.\n";

struct options {
    uint32_t job; /* 0: all */
    const char *metrics;
    int once, help;
};

static const struct option options[] = {
    {"once", no_argument, NULL, 'o'},
    {"metrics-file", required_argument, NULL, 'm'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int parse(struct options *o, int argc, char **argv, struct es_error *err)
{
    static const char see_help[] = "see `evenstep top --help`";
    int64_t job = 0;
    int option;

    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1)
        switch (option) {
        case 'o':
            o->once = 1;
            break;
        case 'm':
            o->metrics = optarg;
            break;
        case 'h':
            o->help = 1;
            return 0;
        default:
            return es_fail(err, ES_USAGE, see_help, "%s: %s", argv[optind - 1],
                           option == ':' ? "a value is missing"
                                         : "no such option");
        }
    if (optind + 1 < argc)
        return es_fail(err, ES_USAGE, see_help,
                       "top: unexpected argument \"%s\"", argv[optind + 1]);
    if (optind < argc
        && number_parse_int(argv[optind], 1, UINT32_MAX, &job) < 0)
        return es_fail(err, ES_USAGE, "give a job's number",
                       "top: \"%s\" is none", argv[optind]);
    o->job = (uint32_t)job;
    return 0;
}

static int print_groups(const struct top_step *step)
{
    struct top_group *rack, all;
    size_t n = top_groups_find(step, &rack, &all);
    char line[TOP_LINE];
    int bad;

    top_group_line(line, &all);
    bad = printf("%s\n", line) < 0;
    for (size_t i = 0; i < n; i++) {
        top_group_line(line, &rack[i]);
        bad |= printf("%s\n", line) < 0;
    }
    free(rack);
    return bad ? -1 : 0;
}

static int print_step(struct top_step *step)
{
    char line[TOP_LINE];
    int bad;

    top_sort(step, TOP_BY_NAME);
    top_step_line(line, step);
    bad = printf("%s\n", line) < 0 || print_groups(step) < 0
          || printf("%s\n", top_head) < 0;
    for (size_t i = 0; i < step->n; i++) {
        top_node_line(line, step, &step->node[i]);
        bad |= printf("%s\n", line) < 0;
    }
    return bad ? -1 : 0;
}

static int once(const struct options *o, struct es_error *err)
{
    struct top_step *steps;
    size_t n = top_steps_find(&steps, o->job);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = print_step(&steps[i]);
    if (rc < 0 || fflush(stdout) != 0)
        rc = es_no_space(err);
    if (rc == 0 && o->metrics)
        rc = top_metrics_write(o->metrics, steps, n, err);
    top_steps_free(steps, n);
    if (rc == 0 && n == 0)
        return es_fail(err, ES_ENV,
                       "run it where srun runs, while a step that uses "
                       "libevenstep does, or evenstep run --meter",
                       "top: no step of yours reports progress here");
    return rc;
}

int command_top(int argc, char **argv, struct es_error *err)
{
    struct options o = {0};

    if (parse(&o, argc, argv, err) < 0)
        return -1;
    if (o.help)
        return help_print(usage, err);
    return o.once ? once(&o, err) : top_screen(o.job, o.metrics, err);
}
