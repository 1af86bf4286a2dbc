/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_print.h"
#include "launcher/base/plain_text.h"
#include "launcher/base/svg.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Pixels of the chart. */
#define CHART  960 /* of the makespan */
#define ROW    24  /* of a core */
#define MARGIN 90  /* for the cores' names */

static double seconds(int64_t ns)
{
    return (double)ns / GRAPH_NS_PER_S;
}

const char *graph_mode_name(enum grouping_mode mode)
{
    static const char *const name[] = {
        [GROUPING_BEST] = "best",   [GROUPING_LITERAL] = "literal",
        [GROUPING_GUARD] = "guard", [GROUPING_CAP] = "cap",
        [GROUPING_PACK] = "pack",   [GROUPING_SPREAD] = "spread",
        [GROUPING_HEFT] = "heft",   [GROUPING_LIST] = "list",
    };

    return name[mode];
}

/* --- JSON ----------------------------------------------------------------- */

/*
 * Written as it goes: a large plan as a tree of jansson's would need gigabytes.
 */

static void print_seconds(FILE *out, int64_t ns)
{
    int64_t whole = ns / 1000000000, rest = ns % 1000000000;
    int digits = 9;

    fprintf(out, "%" PRId64, whole);
    if (rest == 0)
        return;
    for (; rest % 10 == 0; rest /= 10)
        digits--;
    fprintf(out, ".%0*" PRId64, digits, rest);
}

/* Whole numbers without a point, as people write them. */
static void print_number(FILE *out, double value)
{
    if (value == floor(value) && fabs(value) < 0x1p53)
        fprintf(out, "%.0f", value);
    else
        fprintf(out, "%.17g", value);
}

static int print_id(FILE *out, const struct graph_file *f, uint32_t v)
{
    return json_dumpf(json_array_get(f->ids, v), out,
                      JSON_ENCODE_ANY | JSON_COMPACT);
}

static int print_paths(FILE *out,
                       const struct graph_file *f,
                       const struct graph_paths *p)
{
    fputs("\"paths\":[", out);
    for (uint32_t i = 0; i < p->n; i++) {
        fputs(i ? ",[" : "[", out);
        for (uint32_t k = p->at[i]; k < p->at[i + 1]; k++) {
            fputs(k > p->at[i] ? "," : "", out);
            if (print_id(out, f, p->task[k]) < 0)
                return -1;
        }
        putc(']', out);
    }
    putc(']', out);
    return 0;
}

static int print_instances(FILE *out,
                           const struct graph_file *f,
                           const struct graph_plan *p)
{
    fputs("\"instances\":[", out);
    for (uint32_t i = 0; i < p->instances; i++) {
        const struct instance *x = &p->instance[i];

        fputs(i ? ",{\"task\":" : "{\"task\":", out);
        if (print_id(out, f, x->task) < 0)
            return -1;
        fprintf(out, ",\"processor\":%u,\"core\":%u,\"start\":", x->processor,
                x->core);
        print_seconds(out, x->start);
        fputs(",\"finish\":", out);
        print_seconds(out, x->finish);
        putc('}', out);
    }
    putc(']', out);
    return 0;
}

static void print_energy(FILE *out, const struct energy *e)
{
    fputs("\"energy\":{\"busy\":", out);
    print_number(out, e->busy);
    fputs(",\"idle\":", out);
    print_number(out, e->idle);
    fputs(",\"base\":", out);
    print_number(out, e->base);
    fputs(",\"comm\":", out);
    print_number(out, e->comm);
    fputs(",\"total\":", out);
    print_number(out, e->total);
    putc('}', out);
}

static const char *truth(int is)
{
    return is ? "true" : "false";
}

static void print_candidates(FILE *out, const struct graph_plan *p)
{
    fputs("\"candidates\":[", out);
    for (uint32_t i = 0; i < p->candidates; i++) {
        const struct graph_candidate *c = &p->candidate[i];

        fprintf(out, "%s[%u,%u,%u,%u,", i ? "," : "", c->M, c->sum.processors,
                c->sum.cores, c->instances);
        print_seconds(out, c->sum.makespan);
        putc(',', out);
        print_number(out, c->sum.energy.total);
        fprintf(out, ",%s]", truth(c->in_time));
    }
    putc(']', out);
}

int graph_print_json(FILE *out,
                     const struct graph_file *f,
                     const struct graph_plan *p,
                     uint32_t cores)
{
    const struct graph_candidate *c = &p->candidate[p->chosen];

    putc('{', out);
    if (print_paths(out, f, &p->paths) < 0)
        return -1;
    fprintf(out, ",\"cores_per_processor\":%u,", cores);
    if (print_instances(out, f, p) < 0)
        return -1;
    fputs(",\"makespan\":", out);
    print_seconds(out, c->sum.makespan);
    putc(',', out);
    print_energy(out, &c->sum.energy);
    fprintf(out, ",\"processors\":%u,", c->sum.processors);
    print_candidates(out, p);
    fprintf(out, ",\"chosen_M\":%u,\"deadline\":", c->M);
    if (p->deadline == GRAPH_PLAN_FOREVER)
        fputs("null", out);
    else
        print_seconds(out, p->deadline);
    fprintf(out, ",\"deadline_met\":%s,\"mode\":\"%s\"}\n",
            truth(p->deadline_met), graph_mode_name(c->mode));
    return ferror(out) ? -1 : 0;
}

/* --- tables --------------------------------------------------------------- */

/* The text of a task's identifier: a new string, or NULL. */
static char *id_text(const struct graph_file *f, uint32_t v)
{
    const json_t *id = json_array_get(f->ids, v);
    char *text = NULL;
    int rc;

    if (json_is_string(id))
        rc = asprintf(&text, "%s", json_string_value(id));
    else
        rc = asprintf(&text, "%" JSON_INTEGER_FORMAT, json_integer_value(id));
    return rc < 0 ? NULL : text;
}

int graph_print_table(FILE *out,
                      const struct graph_file *f,
                      const struct graph_plan *p)
{
    const struct graph_candidate *c = &p->candidate[p->chosen];

    fprintf(out,
            "makespan %g s, energy %g J (busy %g, idle %g, base %g, "
            "communication %g), %u processors, %u cores, %s: salloc -N%u\n",
            seconds(c->sum.makespan), c->sum.energy.total, c->sum.energy.busy,
            c->sum.energy.idle, c->sum.energy.base, c->sum.energy.comm,
            c->sum.processors, c->sum.cores, graph_mode_name(c->mode),
            c->sum.processors);
    fprintf(out, "processor  core         start        finish  task\n");
    for (uint32_t i = 0; i < p->instances; i++) {
        const struct instance *x = &p->instance[i];
        char *id = id_text(f, x->task), *plain = id ? plain_text_new(id) : NULL;

        free(id);
        if (!plain)
            return -1;
        fprintf(out, "%9u  %4u  %12.6f  %12.6f  %s\n", x->processor, x->core,
                seconds(x->start), seconds(x->finish), plain);
        free(plain);
    }
    return ferror(out) ? -1 : 0;
}

static void print_rows_json(FILE *out, const struct graph_row row[], size_t n)
{
    fputs("{\"plans\":[", out);
    for (size_t i = 0; i < n; i++) {
        const struct graph_row *r = &row[i];

        fprintf(out,
                "%s{\"name\":\"%s\",\"mode\":\"%s\",\"processors\":%u,"
                "\"cores\":%u,\"instances\":%u,\"makespan\":",
                i ? "," : "", r->name, r->mode, r->sum.processors, r->sum.cores,
                r->instances);
        print_seconds(out, r->sum.makespan);
        putc(',', out);
        print_energy(out, &r->sum.energy);
        fprintf(out, ",\"deadline_met\":%s}",
                r->in_time < 0 ? "null" : truth(r->in_time));
    }
    fputs("]}\n", out);
}

static void print_rows_text(FILE *out, const struct graph_row row[], size_t n)
{
    fprintf(out, "%-11s %-8s %10s %6s %9s %14s %14s  %s\n", "plan", "grouping",
            "processors", "cores", "instances", "makespan s", "energy J",
            "in time");
    for (size_t i = 0; i < n; i++) {
        const struct graph_row *r = &row[i];
        const char *in_time = r->in_time > 0 ? "yes" : "no";

        fprintf(out, "%-11s %-8s %10u %6u %9u %14.6f %14.3f  %s\n", r->name,
                r->mode, r->sum.processors, r->sum.cores, r->instances,
                seconds(r->sum.makespan), r->sum.energy.total,
                r->in_time < 0 ? "" : in_time);
    }
}

int graph_print_rows(FILE *out,
                     const struct graph_row row[],
                     size_t n,
                     int json)
{
    (json ? print_rows_json : print_rows_text)(out, row, n);
    return ferror(out) ? -1 : 0;
}

/* --- the chart ------------------------------------------------------------ */

/* One instance, as a box with its name; it shows more when pointed at. */
static int print_box(FILE *out,
                     const struct graph_file *f,
                     const struct instance *x,
                     double scale,
                     uint32_t row)
{
    double left = MARGIN + seconds(x->start) * scale;
    double width = seconds(x->finish - x->start) * scale;
    char *id = id_text(f, x->task), title[64];
    const struct svg_box box = {.x = left,
                                .y = row * ROW + 2,
                                .width = width,
                                .height = ROW - 4,
                                .fill = "#cde",
                                .stroke = "#567",
                                .label = id,
                                .title = title};

    if (!id)
        return -1;
    snprintf(title, sizeof title, "%g to %g s", seconds(x->start),
             seconds(x->finish));
    svg_box(out, &box);
    free(id);
    return 0;
}

int graph_print_svg(FILE *out,
                    const struct graph_file *f,
                    const struct graph_plan *p)
{
    const struct schedule_sum *sum = &p->candidate[p->chosen].sum;
    double scale = sum->makespan > 0 ? CHART / seconds(sum->makespan) : 0;
    uint32_t row = 0;
    char text[64];

    svg_open(out, CHART + MARGIN + 4, (sum->cores + 1) * ROW);
    for (uint32_t i = 0; i < p->instances; i++) {
        const struct instance *x = &p->instance[i];

        if (i == 0 || x->processor != x[-1].processor
            || x->core != x[-1].core) {
            row += i > 0;
            snprintf(text, sizeof text, "%u core %u", x->processor, x->core);
            svg_text(out, 2, row * ROW + 16, SVG_START, text);
        }
        if (print_box(out, f, x, scale, row) < 0)
            return -1;
    }
    snprintf(text, sizeof text, "%g s", seconds(sum->makespan));
    svg_text(out, MARGIN, sum->cores * ROW + 16, SVG_START, "0");
    svg_text(out, MARGIN + CHART, sum->cores * ROW + 16, SVG_END, text);
    svg_close(out);
    return ferror(out) ? -1 : 0;
}
