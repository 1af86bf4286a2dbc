/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep report: what reports say, as tables, JSON, a picture or a page.
 */
#include "launcher/base/named_files.h"
#include "launcher/base/notice.h"
#include "launcher/base/number.h"
#include "launcher/base/options.h"
#include "launcher/base/out_file.h"
#include "launcher/base/plain_text.h"
#include "launcher/commands.h"
#include "launcher/whatif/any_report.h"
#include "launcher/whatif/record_chart.h"
#include "launcher/whatif/record_elements.h"
#include "launcher/whatif/report_chart.h"
#include "launcher/whatif/report_html.h"
#include "launcher/whatif/report_print.h"
#include "launcher/whatif/report_table.h"
#include "launcher/whatif/step_chart.h"
#include "launcher/whatif/step_compare.h"
#include "launcher/whatif/step_show.h"
#include "pmix_bcast/array.h"
#include "pmix_bcast/error.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- joblog show --------------------------------------------------------------- */

/* What a job log tells (--joblog of evenstep, or of GNU parallel): how
 * many tasks there were, which failed, the slowest ones, and how long they took. */

enum { COLUMNS = 9, SHOWN = 10, BINS = 10, BAR = 40, TEXT_MOST = 200 };

static const char head[] = "Seq\tHost\tStarttime\tJobRuntime";

struct row {
    uint64_t seq;
    double begun, seconds;
    int status, signal;
    char *text; /* "HOST  COMMAND", ours */
};

struct log {
    struct row *row; /* n, in the order of the file; of a task the last */
    size_t n, room;
};

/* Does the regular file begin as a job log? */
static int joblog_is(const char *path)
{
    char begin[sizeof head];
    struct stat st;
    FILE *file = NULL;
    int is = 0;

    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        file = fopen(path, "re");
    if (file) {
        is = fread(begin, 1, sizeof head - 1, file) == sizeof head - 1
             && memcmp(begin, head, sizeof head - 1) == 0;
        (void)fclose(file); /* only read */
    }
    return is;
}

/* --- reading -------------------------------------------------------------- */

/* Cut a line at its tabs; what is behind the last column stays in it.  How many. */
static size_t split(char *line, char *column[COLUMNS])
{
    size_t n = 0;

    while (line && n < COLUMNS) {
        column[n++] = line;
        line = strchr(line, '\t');
        if (line)
            *line++ = '\0';
    }
    return n;
}

static int add_row(struct log *l, char *column[COLUMNS])
{
    struct row *r = array_grow(l->row, &l->room, l->n + 1, sizeof *r, SIZE_MAX);
    char text[TEXT_MOST], plain[TEXT_MOST];

    if (!r)
        return -1;
    l->row = r;
    snprintf(text, sizeof text, "%-10.20s %.*s", column[1], TEXT_MOST - 40,
             column[8]);
    plain_text(plain, sizeof plain, text);
    r = &l->row[l->n];
    *r = (struct row){.seq = strtoull(column[0], NULL, 10),
                      .begun = strtod(column[2], NULL),
                      .seconds = strtod(column[3], NULL),
                      .status = (int)strtol(column[6], NULL, 10),
                      .signal = (int)strtol(column[7], NULL, 10),
                      .text = strdup(plain)};
    if (!r->text)
        return -1;
    l->n++;
    return 0;
}

static int read_rows(struct log *l,
                     FILE *file,
                     const char *path,
                     struct es_error *err)
{
    char *line = NULL, *column[COLUMNS];
    size_t room = 0, number = 0;
    ssize_t len;
    int rc = 0;

    while (rc == 0 && (len = getline(&line, &room, file)) > 0) {
        if (number++ == 0 || line[len - 1] != '\n') /* the head; a torn line */
            continue;
        line[len - 1] = '\0';
        if (split(line, column) < COLUMNS)
            rc = es_fail(err, ES_USAGE, "give a job log that is whole",
                         "report: %s:%zu: fewer than %d columns", path, number,
                         COLUMNS);
        else if (add_row(l, column) < 0)
            rc = es_no_memory(err);
    }
    free(line);
    return rc;
}

static void clear_log(struct log *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->row[i].text);
    free(l->row);
}

static int by_task(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    return (x->begun > y->begun) - (x->begun < y->begun);
}

/* Of a task that was run again only the last time counts. */
static void keep_last(struct log *l)
{
    size_t n = 0;

    if (l->n > 0)
        qsort(l->row, l->n, sizeof *l->row, by_task);
    for (size_t i = 0; i < l->n; i++) {
        if (i + 1 < l->n && l->row[i].seq == l->row[i + 1].seq) {
            free(l->row[i].text);
            continue;
        }
        l->row[n++] = l->row[i];
    }
    l->n = n;
}

/* --- printing ------------------------------------------------------------- */

static int has_failed(const struct row *r)
{
    return r->status != 0 || r->signal != 0;
}

static int slowest_first(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

static void print_sum(FILE *out, const struct log *l)
{
    double begin = INFINITY, end = 0, busy = 0;
    size_t failed = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct row *r = &l->row[i];

        begin = fmin(begin, r->begun);
        end = fmax(end, r->begun + r->seconds);
        busy += r->seconds;
        failed += (size_t)has_failed(r);
    }
    fprintf(out,
            "%zu task%s in %.2f s, %zu failed; %.2f s of work, mean %.3f s\n",
            l->n, l->n == 1 ? "" : "s", end - begin, failed, busy,
            busy / (double)l->n);
}

static void print_failed(FILE *out, const struct log *l)
{
    size_t shown = 0, more = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct row *r = &l->row[i];

        if (!has_failed(r))
            continue;
        if (shown == SHOWN) {
            more++;
            continue;
        }
        if (shown++ == 0)
            fprintf(out, "\nfailed:\n%8s %6s %6s %9s  %-10s %s\n", "task",
                    "status", "signal", "seconds", "host", "command");
        fprintf(out, "%8" PRIu64 " %6d %6d %9.3f  %s\n", r->seq, r->status,
                r->signal, r->seconds, r->text);
    }
    if (more > 0)
        fprintf(out, "%8s %zu more\n", "and", more);
}

/* The rows are in the order of their times, the slowest first. */
static void print_slowest(FILE *out, const struct log *l)
{
    fprintf(out, "\nslowest:\n%8s %9s  %-10s %s\n", "task", "seconds", "host",
            "command");
    for (size_t i = 0; i < l->n && i < SHOWN; i++)
        fprintf(out, "%8" PRIu64 " %9.3f  %s\n", l->row[i].seq,
                l->row[i].seconds, l->row[i].text);
}

/* How many took how long, in steps that grow: the longest is in the last. */
static void print_times(FILE *out, const struct log *l)
{
    double most = fmax(l->row[0].seconds, 1e-3);
    double least = fmax(l->row[l->n - 1].seconds, most * 1e-6);
    double step = pow(fmax(most / fmax(least, 1e-3), 1.0001), 1.0 / BINS);
    size_t count[BINS] = {0}, top = 1;

    least = most / pow(step, BINS);
    for (size_t i = 0; i < l->n; i++) {
        double at = log(fmax(l->row[i].seconds, least) / least) / log(step);
        size_t bin = at < BINS ? (size_t)at : BINS - 1;

        count[bin]++;
        top = count[bin] > top ? count[bin] : top;
    }
    fprintf(out, "\ntimes:\n");
    for (size_t i = 0; i < BINS; i++)
        fprintf(out, "%10.3f s to %10.3f s %8zu  %.*s\n",
                i == 0 ? 0 : least * pow(step, (double)i),
                least * pow(step, (double)i + 1), count[i],
                (int)(count[i] * BAR / top),
                "########################################");
}

/* Read and print it.  0, or -1 with err. */
static int joblog_show(FILE *out, const char *path, struct es_error *err)
{
    FILE *file = fopen(path, "re");
    struct log l = {.n = 0};
    int rc;

    if (!file)
        return es_fail(err, ES_USAGE, es_mend_file(errno), "report: %s: %s",
                       path, strerror(errno));
    rc = read_rows(&l, file, path, err);
    (void)fclose(file); /* only read */
    if (rc == 0 && l.n == 0)
        fprintf(out, "no task has ended\n");
    if (rc == 0 && l.n > 0) {
        keep_last(&l);
        print_sum(out, &l);
        print_failed(out, &l);
        qsort(l.row, l.n, sizeof *l.row, slowest_first);
        print_slowest(out, &l);
        if (l.n > 1)
            print_times(out, &l);
    }
    clear_log(&l);
    return rc < 0 || fflush(out) == 0 ? rc : es_no_space(err);
}

/* --- record show --------------------------------------------------------------- */

/* The report of a broadcast, of probes or of a task graph as
 * tables, JSON, or a picture. */

/* --- a broadcast ---------------------------------------------------------- */

static void print_bcast(FILE *out, const struct record_file *f)
{
    char all[NUMBER_BYTES_TEXT], sent[NUMBER_BYTES_TEXT];
    double bytes = record_number(f->first, "bytes", 0);
    const json_t *one;
    size_t i;

    fprintf(out, "%-20s %12s %12s  %s\n", "node", "seconds", "MB/s", "");
    json_array_foreach(f->lines, i, one)
    {
        double s = record_number(one, "seconds", -1);

        if (s >= 0)
            fprintf(out, "%-20s %12.3f %12.1f\n", record_text(one, "node"), s,
                    s > 0 ? bytes / s / 1e6 : 0);
        else
            fprintf(out, "%-20s %12s %12s  %s\n", record_text(one, "node"), "-",
                    "-", record_text(one, "why"));
    }
    number_print_bytes(all, bytes);
    number_print_bytes(sent, record_number(f->first, "home_bytes_sent", 0));
    fprintf(
        out,
        "\n%s: %s to %.0f nodes in %.3f s; the front end sent %s, the nodes "
        "pulled %.0f chunks\n",
        record_text(f->first, "source"), all,
        record_number(f->first, "nodes", 0),
        record_number(f->first, "seconds", 0), sent,
        record_number(f->first, "pulls", 0));
}

/* --- probes --------------------------------------------------------------- */

static void print_probe(FILE *out, const struct record_file *f)
{
    char letters[ELEMENTS + 1];
    const json_t *one;
    size_t i;

    record_elements(letters, f->lines, "probe");
    fprintf(out, "%-20s", "node");
    for (const char *e = letters; *e; e++)
        fprintf(out, " %*s", *e == 'I' ? 12 : 10,
                record_element_name(*e, f->lines));
    putc('\n', out);
    json_array_foreach(f->lines, i, one)
    {
        const json_t *probe = json_object_get(one, "probe");

        fprintf(out, "%-20s", record_text(one, "node"));
        for (const char *e = letters; *e; e++) {
            const char key[] = {*e, '\0'};
            double v = record_number(json_object_get(probe, key), "value", -1);

            if (v >= 0)
                fprintf(out, " %*.4g", *e == 'I' ? 12 : 10, v);
            else
                fprintf(out, " %*s", *e == 'I' ? 12 : 10, "-");
        }
        fprintf(out, "%s\n",
                json_is_true(json_object_get(one, "cached")) ? "  cache" : "");
    }
}

/* --- a task graph --------------------------------------------------------- */

static void print_graph(FILE *out, const struct record_file *f)
{
    const json_t *planned = json_object_get(f->first, "planned"),
                 *real = json_object_get(f->first, "real"),
                 *used = json_object_get(f->first, "used"), *one;
    size_t i;

    fprintf(out, "%-24s %-12s %4s %12s %12s %12s %12s\n", "task", "node",
            "core", "planned s", "to", "real s", "to");
    json_array_foreach(f->lines, i, one)
    {
        fprintf(out, "%-24s %-12s %4.0f %12.6f %12.6f %12.6f %12.6f\n",
                record_text(one, "name"), record_text(one, "node"),
                record_number(one, "core", 0),
                record_number(one, "planned_start", 0),
                record_number(one, "planned_finish", 0),
                record_number(one, "start", 0),
                record_number(one, "finish", 0));
    }
    fprintf(out, "\nplanned %.3f s, %.1f J; took %.3f s, %.1f J\n",
            record_number(planned, "makespan", 0),
            record_number(json_object_get(planned, "energy"), "total", 0),
            record_number(real, "makespan", 0),
            record_number(json_object_get(real, "energy"), "total", 0));
    if (used)
        fprintf(out, "its nodes have used %.1f J (%s)\n",
                record_number(used, "joules", 0), record_text(used, "source"));
}

/* --- public --------------------------------------------------------------- */

/* 0, or -1 if something cannot be written. */
static int record_show_table(FILE *out, const struct any_report *r)
{
    if (r->kind == REPORT_BCAST)
        print_bcast(out, &r->record);
    else if (r->kind == REPORT_PROBE)
        print_probe(out, &r->record);
    else
        print_graph(out, &r->record);
    return ferror(out) ? -1 : 0;
}

/* {"bcast":FIRST,"nodes":[...]}, and so on, of the lines as they are. */
static int record_show_json(FILE *out, const struct any_report *r)
{
    json_t *all =
        json_pack("{s:O, s:O}", report_kind_name(r->kind), r->record.first,
                  r->kind == REPORT_GRAPH ? "tasks" : "nodes", r->record.lines);
    char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;
    int rc = text && fputs(text, out) != EOF && putc('\n', out) != EOF ? 0 : -1;

    free(text);
    json_decref(all);
    return rc;
}

/* --- report command ------------------------------------------------------------ */

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
