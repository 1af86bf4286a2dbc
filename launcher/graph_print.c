/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph_print.h"

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
    };

    return name[mode];
}

/* --- JSON ----------------------------------------------------------------- */

/* Whole numbers without a point, as people write them. */
static json_t *number(double value)
{
    if (value == floor(value) && fabs(value) < 0x1p53)
        return json_integer((json_int_t)value);
    return json_real(value);
}

/* Append to a list, taking over item; the list becomes NULL if that fails. */
static void append(json_t **list, json_t *item)
{
    if (*list && json_array_append_new(*list, item) == 0)
        return;
    if (!*list)
        json_decref(item);
    json_decref(*list);
    *list = NULL;
}

static json_t *paths(const struct graph_file *f, const struct graph_paths *p)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < p->n; i++) {
        json_t *path = json_array();

        for (uint32_t k = p->at[i]; k < p->at[i + 1]; k++)
            append(&path, json_incref(json_array_get(f->ids, p->task[k])));
        append(&all, path);
    }
    return all;
}

static json_t *instances(const struct graph_file *f, const struct graph_plan *p)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < p->instances; i++) {
        const struct instance *x = &p->instance[i];

        append(&all,
               json_pack("{s:O, s:I, s:I, s:o, s:o}", "task",
                         json_array_get(f->ids, x->task), "processor",
                         (json_int_t)x->processor, "core", (json_int_t)x->core,
                         "start", number(seconds(x->start)), "finish",
                         number(seconds(x->finish))));
    }
    return all;
}

static json_t *energy(const struct energy *e)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "busy", number(e->busy),
                     "idle", number(e->idle), "base", number(e->base), "comm",
                     number(e->comm), "total", number(e->total));
}

static json_t *candidates(const struct graph_plan *p)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < p->candidates; i++) {
        const struct graph_candidate *c = &p->candidate[i];

        append(&all,
               json_pack("[I, I, I, I, o, o, b]", (json_int_t)c->M,
                         (json_int_t)c->sum.processors,
                         (json_int_t)c->sum.cores, (json_int_t)c->instances,
                         number(seconds(c->sum.makespan)),
                         number(c->sum.energy.total), c->in_time));
    }
    return all;
}

/* Takes over all. */
static int dump(FILE *out, json_t *all)
{
    int rc = all ? json_dumpf(all, out, JSON_COMPACT) : -1;

    json_decref(all);
    return rc == 0 && putc('\n', out) != EOF ? 0 : -1;
}

int graph_print_json(FILE *out,
                     const struct graph_file *f,
                     const struct graph_plan *p,
                     uint32_t cores)
{
    const struct graph_candidate *c = &p->candidate[p->chosen];

    return dump(
        out,
        json_pack(
            "{s:o, s:I, s:o, s:o, s:o, s:I, s:o, s:I, s:o, s:b, s:s}", "paths",
            paths(f, &p->paths), "cores_per_processor", (json_int_t)cores,
            "instances", instances(f, p), "makespan",
            number(seconds(c->sum.makespan)), "energy", energy(&c->sum.energy),
            "processors", (json_int_t)c->sum.processors, "candidates",
            candidates(p), "chosen_M", (json_int_t)c->M, "deadline",
            p->deadline == GRAPH_PLAN_FOREVER ? json_null()
                                              : number(seconds(p->deadline)),
            "deadline_met", p->deadline_met, "mode", graph_mode_name(c->mode)));
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
            "communication %g), %u processors, %u cores, %s\n",
            seconds(c->sum.makespan), c->sum.energy.total, c->sum.energy.busy,
            c->sum.energy.idle, c->sum.energy.base, c->sum.energy.comm,
            c->sum.processors, c->sum.cores, graph_mode_name(c->mode));
    fprintf(out, "processor  core         start        finish  task\n");
    for (uint32_t i = 0; i < p->instances; i++) {
        const struct instance *x = &p->instance[i];
        char *id = id_text(f, x->task);

        if (!id)
            return -1;
        fprintf(out, "%9u  %4u  %12.6f  %12.6f  %s\n", x->processor, x->core,
                seconds(x->start), seconds(x->finish), id);
        free(id);
    }
    return ferror(out) ? -1 : 0;
}

static json_t *row_json(const struct graph_row *r)
{
    return json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o}", "name", r->name, "mode",
        r->mode, "processors", (json_int_t)r->sum.processors, "cores",
        (json_int_t)r->sum.cores, "instances", (json_int_t)r->instances,
        "makespan", number(seconds(r->sum.makespan)), "energy",
        energy(&r->sum.energy), "deadline_met",
        r->in_time < 0 ? json_null() : json_boolean(r->in_time));
}

int graph_print_rows(FILE *out,
                     const struct graph_row row[],
                     size_t n,
                     int json)
{
    json_t *all;

    if (json) {
        all = json_array();
        for (size_t i = 0; i < n; i++)
            append(&all, row_json(&row[i]));
        return dump(out, json_pack("{s:o}", "plans", all));
    }
    fprintf(out, "%-11s %-8s %10s %6s %9s %14s %14s  %s\n", "plan", "grouping",
            "processors", "cores", "instances", "makespan s", "energy J",
            "in time");
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%-11s %-8s %10u %6u %9u %14.6f %14.3f  %s\n", row[i].name,
                row[i].mode, row[i].sum.processors, row[i].sum.cores,
                row[i].instances, seconds(row[i].sum.makespan),
                row[i].sum.energy.total,
                row[i].in_time < 0 ? ""
                : row[i].in_time   ? "yes"
                                   : "no");
    return ferror(out) ? -1 : 0;
}

/* --- the chart ------------------------------------------------------------ */

static void print_escaped(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        default:
            putc(*text, out);
        }
}

/* One instance, as a box with its name; it shows more when pointed at. */
static int print_box(FILE *out,
                     const struct graph_file *f,
                     const struct instance *x,
                     double scale,
                     uint32_t row)
{
    double left = MARGIN + seconds(x->start) * scale;
    double width = seconds(x->finish - x->start) * scale;
    char *id = id_text(f, x->task);

    if (!id)
        return -1;
    fprintf(out,
            "<g><title>%g to %g s</title><rect x=\"%.2f\" y=\"%u\" "
            "width=\"%.2f\" height=\"%d\" fill=\"#cde\" stroke=\"#567\"/>"
            "<svg x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\">"
            "<text x=\"3\" y=\"15\">",
            seconds(x->start), seconds(x->finish), left, row * ROW + 2, width,
            ROW - 4, left, row * ROW + 2, width, ROW - 4);
    print_escaped(out, id);
    fprintf(out, "</text></svg></g>\n");
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

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
            "height=\"%u\" font-family=\"sans-serif\" font-size=\"12\">\n",
            CHART + MARGIN + 4, (sum->cores + 1) * ROW);
    for (uint32_t i = 0; i < p->instances; i++) {
        const struct instance *x = &p->instance[i];

        if (i == 0 || x->processor != x[-1].processor || x->core != x[-1].core)
            fprintf(out, "<text x=\"2\" y=\"%u\">%u core %u</text>\n",
                    (i ? ++row : 0) * ROW + 16, x->processor, x->core);
        if (print_box(out, f, x, scale, row) < 0)
            return -1;
    }
    fprintf(out,
            "<text x=\"%d\" y=\"%u\">0</text>"
            "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">%g s</text>\n</svg>\n",
            MARGIN, sum->cores * ROW + 16, MARGIN + CHART,
            sum->cores * ROW + 16, seconds(sum->makespan));
    return ferror(out) ? -1 : 0;
}
