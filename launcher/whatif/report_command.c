/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep report: what the report of a run says, as a table, JSON or a
 * picture.
 */
#include "launcher/base/help.h"
#include "launcher/base/notice.h"
#include "launcher/base/svg.h"
#include "launcher/commands.h"
#include "launcher/config/range_option.h"
#include "launcher/whatif/report_chart.h"
#include "launcher/whatif/report_print.h"

#include <getopt.h>
#include <inttypes.h>

static const char see_help[] = "see `evenstep report --help`";

static const char usage[] =
    "usage: evenstep report [options] FILE\n"
    "\n"
    "Tell what FILE, the report of a run (`evenstep run --report FILE`), says: "
    "which\n"
    "node did how much in how long, and how evenly every frame ended.  A "
    "journal says\n"
    "it, too, but for the times between two commands.\n"
    "\n"
    "  --svg PICTURE        draw it, too: who worked when, shares, efficiency\n"
    "  --frames B:E         only these in the picture, at most 400 (the first "
    "400)\n"
    "  --json               print one JSON object instead of the tables\n";

struct options {
    const char *file, *svg; /* svg NULL: no picture */
    uint64_t begin, end;    /* frames of the picture; both 0: not given */
    int json, help;
};

struct picture {
    const struct report_file *f;
    size_t begin, end; /* places in the file, not numbers of frames */
};

static const struct option options[] = {
    {"svg", required_argument, NULL, 's'},
    {"frames", required_argument, NULL, 'f'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int take(struct options *o,
                int option,
                const char *text,
                struct es_error *err)
{
    switch (option) {
    case 's':
        o->svg = text;
        return 0;
    case 'f':
        if (range_option_parse(&o->begin, &o->end, "--range", text, NULL) == 0)
            return 0;
        return es_fail(err, ES_USAGE,
                       "give B:E, frames from B up to, not "
                       "with, E",
                       "--frames: \"%s\" is none", text);
    case 'j':
        o->json = 1;
        return 0;
    default: /* 'h' */
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
    if (optind + 1 != argc)
        return es_fail(err, ES_USAGE, see_help, "report: %s",
                       optind < argc ? "more than one FILE" : "no FILE");
    if (o->end > 0 && !o->svg)
        return es_fail(err, ES_USAGE, "give --svg, too",
                       "--frames is of the picture");
    o->file = argv[optind];
    return 0;
}

/* --- the picture ---------------------------------------------------------- */

/* Choose the frames that were asked for, as many as can be drawn. */
static int choose(struct picture *p,
                  const struct options *o,
                  struct es_error *err)
{
    const struct report_file *f = p->f;
    size_t wanted;

    p->end = f->n;
    for (size_t i = f->n; o->end > 0 && i > 0; i--) {
        if ((uint64_t)f->frame[i - 1].number >= o->end)
            p->end = i - 1;
        if ((uint64_t)f->frame[i - 1].number >= o->begin)
            p->begin = i - 1;
        else
            break;
    }
    if (p->begin >= p->end
        || (o->end > 0 && (uint64_t)f->frame[p->begin].number < o->begin))
        return es_fail(err, ES_USAGE, "give some that are in the report",
                       "--frames: there is none from %" PRIu64
                       " to below %" PRIu64,
                       o->begin, o->end);
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
        notice("%s: its last line is cut off, and left out", o->file);
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

int command_report(int argc, char **argv, struct es_error *err)
{
    struct options o = {0};
    struct report_file f;
    int rc;

    if (parse(&o, argc, argv, err) < 0)
        return -1;
    if (o.help)
        return help_print(usage, err);
    rc = report_file_read(&f, "report", o.file, err);
    if (rc == 0)
        rc = report(&o, &f, err);
    report_file_clear(&f);
    return rc;
}
