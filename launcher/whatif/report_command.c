/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep report: what reports say, as tables, JSON, a picture or a page.
 */
#include "launcher/base/named_files.h"
#include "launcher/base/notice.h"
#include "launcher/base/options.h"
#include "launcher/base/out_file.h"
#include "launcher/commands.h"
#include "launcher/whatif/any_report.h"
#include "launcher/whatif/joblog_show.h"
#include "launcher/whatif/record_chart.h"
#include "launcher/whatif/record_show.h"
#include "launcher/whatif/report_chart.h"
#include "launcher/whatif/report_html.h"
#include "launcher/whatif/report_print.h"
#include "launcher/whatif/report_table.h"
#include "launcher/whatif/step_chart.h"
#include "launcher/whatif/step_compare.h"
#include "launcher/whatif/step_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *svg, *html;     /* NULL: not wanted */
    struct option_range frames; /* of the picture; not given: the first */
    int json, table;
};

struct picture {
    const struct report_file *f;
    size_t begin, end; /* places in the file, not numbers of frames */
};

#define AT(member) OPTION_AT(struct options, member)

/* clang-format off */
static const struct option options[] = {
    {OPTION_TEXT, "svg", "PICTURE", AT(svg), .file = OPTION_WRITES, .help =
     "draw it, too: who worked when, shares, efficiency"},
    {OPTION_RANGE, "frames", "B:E", AT(frames), .needs = "svg", .help =
     "only these in the picture, at most 400 (the first 400)"},
    {OPTION_TEXT, "html", "PAGE", AT(html), .file = OPTION_WRITES, .help =
     "write a page for a browser instead, of all FILEs side by side"},
    {OPTION_FLAG, "json", NULL, AT(json), .excludes = "table", .help =
     "print JSON instead of the tables: one object, or a list of them where there "
     "are several FILEs"},
    {OPTION_FLAG, "table", NULL, AT(table), .help =
     "print one table with a head and tabs between, for R or pandas: a row for "
     "each node of each frame; all FILEs are of one kind"},
    {.type = OPTION_END},
};
/* clang-format on */

/* --- the picture ---------------------------------------------------------- */

/* Choose the frames that were asked for, as many as can be drawn. */
static int choose(struct picture *p,
                  const struct options *o,
                  struct es_error *err)
{
    const struct report_file *f = p->f;
    size_t wanted;

    p->end = f->n;
    for (size_t i = f->n; o->frames.end > 0 && i > 0; i--) {
        if ((uint64_t)f->frame[i - 1].number >= o->frames.end)
            p->end = i - 1;
        if ((uint64_t)f->frame[i - 1].number >= o->frames.begin)
            p->begin = i - 1;
        else
            break;
    }
    if (p->begin >= p->end
        || (o->frames.end > 0
            && (uint64_t)f->frame[p->begin].number < o->frames.begin))
        return es_fail(err, ES_USAGE, "give frames that are in the report",
                       "--frames: there are none from %" PRIu64
                       " to below %" PRIu64,
                       o->frames.begin, o->frames.end);
    wanted = p->end - p->begin;
    if (wanted > CHART_FRAMES)
        p->end = p->begin + CHART_FRAMES;
    if (wanted > CHART_FRAMES)
        notice("the picture has the first %d of %zu frames: --frames chooses "
               "others",
               CHART_FRAMES, wanted);
    return 0;
}

static int draw(FILE *out, const void *arg)
{
    const struct picture *p = arg;

    report_chart_draw(out, p->f, p->begin, p->end);
    return 0;
}

/* Of a run. */
static int draw_run(const struct options *o,
                    const struct any_report *r,
                    struct es_error *err)
{
    struct picture p = {.f = &r->run};

    return choose(&p, o, err) < 0
               ? -1
               : out_file_write("--svg", o->svg, draw, &p, err);
}

static int draw_step(FILE *out, const void *arg)
{
    step_chart(out, arg);
    return 0;
}

static int draw_record(FILE *out, const void *arg)
{
    record_chart(out, arg, NULL);
    return 0;
}

static int draw_any(const struct options *o,
                    const struct any_report *r,
                    struct es_error *err)
{
    if (r->kind == REPORT_RUN)
        return draw_run(o, r, err);
    if (o->frames.end > 0)
        return es_fail(err, ES_USAGE, "leave it out",
                       "--frames: the report of a %s has no frames",
                       report_kind_name(r->kind));
    if (r->kind == REPORT_STEP)
        return out_file_write("--svg", o->svg, draw_step, &r->step, err);
    if (r->kind == REPORT_PROBE)
        return es_fail(err, ES_USAGE, "give --html PAGE",
                       "--svg: there is no picture of probes");
    return out_file_write("--svg", o->svg, draw_record, r, err);
}

/* --- what is printed ------------------------------------------------------ */

static int print_any(const struct options *o, const struct any_report *r)
{
    if (o->table)
        return report_table_rows(stdout, r);
    if (r->kind == REPORT_RUN)
        return o->json ? report_print_json(stdout, &r->run)
                       : report_print_table(stdout, &r->run);
    if (r->kind == REPORT_STEP)
        return o->json ? step_show_json(stdout, &r->step)
                       : step_show_table(stdout, &r->step);
    return o->json ? record_show_json(stdout, r) : record_show_table(stdout, r);
}

static int print_all(const struct options *o,
                     struct any_report r[],
                     size_t n,
                     struct es_error *err)
{
    int is_list = o->json && n > 1;
    int rc = o->table ? report_table_head(stdout, r[0].kind) : 0;

    if (step_compare_can(r, n) && !o->table) {
        if (!o->json)
            return step_compare_table(stdout, r, n) < 0 || fflush(stdout) != 0
                       ? es_no_space(err)
                       : 0;
        if (step_compare_add(r, n) < 0)
            return es_no_memory(err);
    }
    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (is_list)
            rc = putchar(i ? ',' : '[') == EOF ? -1 : 0;
        if (n > 1 && !o->json && !o->table)
            rc = printf("%s%s:\n", i ? "\n" : "", r[i].path) < 0 ? -1 : 0;
        if (rc == 0)
            rc = print_any(o, &r[i]);
    }
    if (rc == 0 && is_list)
        rc = puts("]") == EOF ? -1 : 0;
    return rc < 0 || fflush(stdout) != 0 ? es_no_space(err) : 0;
}

/* --- all together --------------------------------------------------------- */

/* Rows of one table have the same columns. */
static int check(const struct options *o,
                 const struct any_report r[],
                 size_t n,
                 struct es_error *err)
{
    if (o->svg && n > 1)
        return es_fail(err, ES_USAGE, "give one FILE, or --html PAGE",
                       "--svg: there are %zu reports", n);
    for (size_t i = 1; o->table && i < n; i++)
        if (r[i].kind != r[0].kind)
            return es_fail(err, ES_USAGE, "give those of one kind",
                           "--table: %s is of a %s, %s of a %s", r[0].path,
                           report_kind_name(r[0].kind), r[i].path,
                           report_kind_name(r[i].kind));
    return 0;
}

static int report(const struct options *o,
                  struct any_report r[],
                  size_t n,
                  struct es_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (r[i].run.torn)
            notice("%s: its last line is not whole, and is ignored", r[i].path);
    if (check(o, r, n, err) < 0)
        return -1;
    if (o->svg && draw_any(o, &r[0], err) < 0)
        return -1;
    if (o->html && report_html_write(o->html, r, n, err) < 0)
        return -1;
    if ((o->html && !o->json && !o->table)
        || (o->svg && strcmp(o->svg, "-") == 0))
        return 0;
    return print_all(o, r, n, err);
}

/* It is text, and a table already. */
static int show_joblog(const struct options *o,
                       char **path,
                       struct es_error *err)
{
    if (path[1])
        return es_fail(err, ES_USAGE, "give one alone",
                       "report: %s is a job log, and there are other reports",
                       path[0]);
    if (o->svg || o->html || o->json || o->table)
        return es_fail(err, ES_USAGE, "leave the option out",
                       "report: %s is a job log, a table with tabs already: "
                       "no --json, --table, --svg or --html",
                       path[0]);
    return joblog_show(stdout, path[0], err);
}

static int report_main(int argc, char **argv, struct es_error *err)
{
    struct options o = {0};
    struct named_files files;
    struct any_report *r;
    size_t n = 0, read = 0;
    int rc = options_parse(&command_report, &o, argc, argv, err);

    if (rc != 0)
        return rc;
    rc = named_files_of_options(&files, options, &o, err);
    for (; rc == 0 && argv[1 + n]; n++)
        rc = named_files_read(&files, NULL, "the report", argv[1 + n], err);
    if (rc != 0)
        return rc;
    if (joblog_is(argv[1]))
        return show_joblog(&o, argv + 1, err);
    r = calloc(n, sizeof *r);
    if (!r)
        return es_no_memory(err);
    for (; rc == 0 && read < n; read++)
        rc = any_report_read(&r[read], argv[1 + read], err);
    if (rc == 0)
        rc = report(&o, r, n, err);
    for (size_t i = 0; i < read; i++)
        any_report_clear(&r[i]);
    free(r);
    return rc;
}

const struct subcommand command_report = {
    .name = "report",
    .brief = "what a run's --report file tells",
    .about =
        "Print what FILE says, the report of a run (`evenstep run --report FILE`): which\n"
        "node did how much in how long, and how evenly every frame ended.  FILE may also\n"
        "be a journal, which lacks the times between two commands, the report of a step\n"
        "(`srun --evenstep-report=FILE`): how the time of its ranks went, or what\n"
        "--report of `evenstep bcast`, `probe` or `graph run` has written.  Reports of\n"
        "several steps are compared.  Of a job log (--joblog) it tells which tasks have\n"
        "failed, the slowest ones, and how long they took.\n",
    .option = options,
    .operands = "FILE [FILE...]",
    .run = report_main,
};
