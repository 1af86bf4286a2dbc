/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep top: the progress of the nodes of running steps.
 */
#include "launcher/base/number.h"
#include "launcher/base/options.h"
#include "launcher/command/top_print.h"
#include "launcher/command/top_screen.h"
#include "launcher/commands.h"

#include <stdio.h>
#include <stdlib.h>

struct options {
    const char *metrics;
    int once;
};

#define AT(member) OPTION_AT(struct options, member)

/* clang-format off */
static const struct option options[] = {
    {OPTION_FLAG, "once", NULL, AT(once), .help = "print them once, and end"},
    {OPTION_TEXT, "metrics-file", "FILE", AT(metrics), .help =
     "write them for Prometheus, too"},
    {.type = OPTION_END},
};
/* clang-format on */

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

static int print_run(const struct top_step *step)
{
    char line[TOP_LINE];

    if (!step->is_run)
        return 0;
    top_run_line(line, step, TOP_LINE);
    return printf("%s\n", line) < 0 ? -1 : 0;
}

static int print_step(struct top_step *step)
{
    char line[TOP_LINE];
    int bad = print_run(step) < 0;

    if (step->n == 0 || bad)
        return bad ? -1 : 0;

    top_sort(step, TOP_BY_NAME);
    top_step_line(line, step);
    bad = printf("%s\n", line) < 0 || print_groups(step) < 0
          || printf("%s\n", top_head(step)) < 0;
    for (size_t i = 0; i < step->n; i++) {
        top_node_line(line, step, &step->node[i]);
        bad |= printf("%s\n", line) < 0;
    }
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
        return es_fail(err, ES_ENV,
                       "run it where srun runs, while a step with "
                       "--evenstep does, or evenstep run",
                       "top: no step of yours reports progress here");
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
    return o.once ? once(&o, (uint32_t)job, err)
                  : top_screen((uint32_t)job, o.metrics, err);
}

const struct subcommand command_top = {
    .name = "top",
    .brief = "how the nodes of running steps stand",
    .about =
        "A live view of steps under `srun --evenstep` that report progress by\n"
        "libevenstep, of how far each `evenstep run` is, and of its nodes with\n"
        "--meter; run it where these run.  All of yours, or those of one job.\n",
    .option = options,
    .end = "Keys: n, s, w, l sort by name, speed, waiting, limit; q ends.\n",
    .operands = "[JOBID]",
    .run = top_main,
};
