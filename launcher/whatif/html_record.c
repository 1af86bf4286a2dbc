/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/html_record.h"
#include "launcher/whatif/html.h"
#include "launcher/whatif/html_step.h"
#include "launcher/whatif/record_chart.h"
#include "policy/metric.h"

#include <math.h>
#include <string.h>

/* --- a broadcast ---------------------------------------------------------- */

static void bcast_links(FILE *out, const struct record_file *f)
{
    double bytes = record_number(f->first, "bytes", 0), best = 0;
    const json_t *one;
    size_t i;

    html_table(out, "The nodes\u2019 links",
               "node|<rate, of the best|MB/s|seconds|what failed");
    json_array_foreach(f->lines, i, one)
    {
        double s = record_number(one, "seconds", 0);

        best = fmax(best, s > 0 ? bytes / s : 0);
    }
    json_array_foreach(f->lines, i, one)
    {
        double s = record_number(one, "seconds", -1);

        html_row(out, record_text(one, "node"));
        html_bar(out, s > 0 && best > 0 ? bytes / s / best : 0, HTML_BAR_PLAIN);
        if (s >= 0) {
            html_cell(out, "%.1f", s > 0 ? bytes / s / 1e6 : 0);
            html_cell(out, "%.3f", s);
        } else {
            html_cell(out, "-");
            html_cell(out, "-");
        }
        html_cell(out, "%s", record_text(one, "why"));
        html_row_end(out);
    }
    html_table_end(out);
}

static void bcast(FILE *out, const struct any_report *r)
{
    const json_t *first = r->record.first;
    double nodes = record_number(first, "nodes", 0);
    double bytes = record_number(first, "bytes", 0);
    double seconds = record_number(first, "seconds", 0);

    html_line(out, "%s to %s: %.1f MB to %.0f nodes in %.3f s, %.1f MB/s each.",
              record_text(first, "source"), record_text(first, "destination"),
              bytes / 1e6, nodes, seconds,
              seconds > 0 ? bytes / seconds / 1e6 : 0);
    html_line(out,
              "The front end sent %.1f MB (%.2f times the file); all else came "
              "from node to node. %.0f chunks were pulled, %.0f pulls were "
              "refused.",
              record_number(first, "home_bytes_sent", 0) / 1e6,
              bytes > 0 ? record_number(first, "home_bytes_sent", 0) / bytes
                        : 0,
              record_number(first, "pulls", 0),
              record_number(first, "refused_pulls", 0));
    html_figure(out, "When the file was whole on each node");
    record_chart(out, r, "Seconds until the file was whole, by node");
    html_figure_end(out);
    bcast_links(out, &r->record);
}

/* --- probes --------------------------------------------------------------- */

/* What a node is ranked by, of which more is better. */
static double amount_of(const json_t *element)
{
    double v = record_number(element, "value", 0);

    if (strcmp(record_text(element, "better"), "less") != 0)
        return v;
    return v > 0 ? 1 / v : 0;
}

static void probe_element(FILE *out, const struct record_file *f, char letter)
{
    const char key[] = {letter, '\0'};
    const json_t *one, *any = NULL;
    char caption[128];
    double best = 0;
    size_t i;

    for (i = 0; i < json_array_size(f->lines); i++) {
        const json_t *e = json_object_get(
            json_object_get(json_array_get(f->lines, i), "probe"), key);

        any = any ? any : e;
        best = fmax(best, amount_of(e));
    }
    if (!any)
        return;
    snprintf(caption, sizeof caption, "%c: %.40s, %.20s", letter,
             record_text(any, "name"), record_text(any, "unit"));
    html_table(out, caption,
               "node|<of the best|value|spread|what was measured");
    json_array_foreach(f->lines, i, one)
    {
        const json_t *e = json_object_get(json_object_get(one, "probe"), key);
        double v = record_number(e, "value", -1);

        html_row(out, record_text(one, "node"));
        html_bar(out, best > 0 ? amount_of(e) / best : 0, HTML_BAR_PLAIN);
        if (v >= 0)
            html_cell(out, "%.4g", v);
        else
            html_cell(out, "-");
        html_cell(out, "%.0f%%", 100 * record_number(e, "spread", 0));
        html_cell(out, "%s", record_text(e, "what"));
        html_row_end(out);
    }
    html_table_end(out);
}

static void probe(FILE *out, const struct any_report *r)
{
    fprintf(out, "<div class=\"grid\">\n");
    for (const char *e = ELEMENT_LETTERS; *e; e++)
        probe_element(out, &r->record, *e);
    fprintf(out, "</div>\n");
}

/* --- a task graph --------------------------------------------------------- */

static void graph_tasks(FILE *out, const struct record_file *f)
{
    const json_t *one;
    size_t i;

    html_details(out, "Tasks", 0);
    html_table(out, "Tasks", "task|node|core|planned s|to|real s|to");
    json_array_foreach(f->lines, i, one)
    {
        html_row(out, record_text(one, "name"));
        html_cell(out, "%s", record_text(one, "node"));
        html_cell(out, "%.0f", record_number(one, "core", 0));
        html_cell(out, "%.3f", record_number(one, "planned_start", 0));
        html_cell(out, "%.3f", record_number(one, "planned_finish", 0));
        html_cell(out, "%.3f", record_number(one, "start", 0));
        html_cell(out, "%.3f", record_number(one, "finish", 0));
        html_row_end(out);
    }
    html_table_end(out);
    html_details_end(out);
}

static void graph_line(FILE *out,
                       const char *name,
                       const json_t *sum,
                       double most)
{
    double s = record_number(sum, "makespan", 0);
    const json_t *energy = json_object_get(sum, "energy");

    html_row(out, name);
    html_bar(out, most > 0 ? s / most : 0,
             name[0] == 'p' ? HTML_BAR_OPEN : HTML_BAR_PLAIN);
    html_cell(out, "%.3f", s);
    html_cell(out, "%.0f", record_number(sum, "processors", 0));
    html_cell(out, "%.1f", record_number(energy, "total", 0));
    html_row_end(out);
}

static void graph(FILE *out, const struct any_report *r)
{
    const json_t *planned = json_object_get(r->record.first, "planned"),
                 *real = json_object_get(r->record.first, "real"),
                 *used = json_object_get(r->record.first, "used");
    double most = fmax(record_number(planned, "makespan", 0),
                       record_number(real, "makespan", 0));

    html_table(out, "The plan, and how it went",
               "|<time|seconds|nodes|joules, by the model");
    graph_line(out, "planned", planned, most);
    graph_line(out, "ran", real, most);
    html_table_end(out);
    if (used)
        html_line(out, "The nodes used %.1f kJ, %.0f W (%s).",
                  record_number(used, "joules", 0) / 1e3,
                  record_number(used, "watts", 0), record_text(used, "source"));
    html_figure(out, "Who worked when: the plan is the thin line above");
    record_chart(out, r, "Tasks by core, planned and real");
    html_figure_end(out);
    graph_tasks(out, &r->record);
}

void html_record(FILE *out, const struct any_report *r)
{
    static void (*const shows[])(FILE * out, const struct any_report *r) = {
        [REPORT_STEP] = html_step,
        [REPORT_BCAST] = bcast,
        [REPORT_PROBE] = probe,
        [REPORT_GRAPH] = graph,
    };

    if (shows[r->kind])
        shows[r->kind](out, r);
}
