/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep report: what the report of a run or of a step says, as a table, JSON or a
 * picture.
 */
#include "launcher/base/notice.h"
#include "launcher/base/options.h"
#include "launcher/base/svg.h"
#include "launcher/commands.h"
#include "launcher/whatif/report_account.h"
#include "launcher/whatif/report_chart.h"
#include "launcher/whatif/report_print.h"
#include "launcher/whatif/step_show.h"

#include <inttypes.h>

struct options {
    const char *file, *svg;     /* svg NULL: no picture */
    struct option_range frames; /* of the picture; not given: the first */
    int json;
};

struct picture {
    const struct report_file *f;
    size_t begin, end; /* places in the file, not numbers of frames */
};

#define AT(member) OPTION_AT(struct options, member)

/* clang-format off */
static const struct option options[] = {
    {OPTION_TEXT, "svg", "PICTURE", AT(svg), .help =
     "draw it, too: who worked when, shares, efficiency"},
    {OPTION_RANGE, "frames", "B:E", AT(frames), .needs = "svg", .help =
     "only these in the picture, at most 400 (the first 400)"},
    {OPTION_FLAG, "json", NULL, AT(json), .help =
     "print one JSON object instead of the tables"},
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

/* --- all together --------------------------------------------------------- */

static int report(const struct options *o,
                  const struct report_file *f,
                  struct es_error *err)
{
    struct picture p = {.f = f};

    if (f->torn)
        notice("%s: its last line is not whole, and is ignored", o->file);
    if (o->svg
        && (choose(&p, o, err) < 0
            || svg_write_file(o->svg, draw, &p, err) < 0))
        return -1;
    if ((o->json ? report_print_json(stdout, f) : report_print_table(stdout, f))
            < 0
        || fflush(stdout) != 0)
        return es_no_space(err);
    return 0;
}

/* --- of a step ------------------------------------------------------------ */

static int draw_step(FILE *out, const void *arg)
{
    step_show_chart(out, arg);
    return 0;
}

static int report_step(const struct options *o, struct es_error *err)
{
    struct step_file f;
    int rc = step_file_read(&f, o->file, err);

    if (rc == 0 && o->frames.end > 0)
        rc = es_fail(err, ES_USAGE, "leave it out",
                     "--frames: the report of a step has no frames");
    if (rc == 0 && o->svg)
        rc = svg_write_file(o->svg, draw_step, &f, err);
    if (rc == 0
        && ((o->json ? step_show_json(stdout, &f) : step_show_table(stdout, &f))
                < 0
            || fflush(stdout) != 0))
        rc = es_no_space(err);
    step_file_clear(&f);
    return rc;
}

static int report_main(int argc, char **argv, struct es_error *err)
{
    struct options o = {0};
    struct report_file f;
    int rc = options_parse(&command_report, &o, argc, argv, err);

    if (rc != 0)
        return rc;
    o.file = argv[1];
    if (step_file_is_one(o.file))
        return report_step(&o, err);
    rc = report_file_read(&f, "report", o.file, err);
    if (rc == 0 && report_account(&f) < 0)
        rc = es_no_memory(err);
    if (rc == 0)
        rc = report(&o, &f, err);
    report_file_clear(&f);
    return rc;
}

const struct subcommand command_report = {
    .name = "report",
    .brief = "what a run's --report file tells",
    .about =
        "Print what FILE says, the report of a run (`evenstep run --report FILE`): which\n"
        "node did how much in how long, and how evenly every frame ended.  FILE may also\n"
        "be a journal, which lacks the times between two commands, or the report of a\n"
        "step (`srun --evenstep-report=FILE`): how the time of its ranks went.\n",
    .option = options,
    .operands = "FILE",
    .run = report_main,
};
