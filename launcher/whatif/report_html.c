/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/report_html.h"
#include "launcher/base/markup.h"
#include "launcher/base/out_file.h"
#include "launcher/whatif/any_report.h"
#include "launcher/whatif/html.h"
#include "launcher/whatif/html_step.h"
#include "launcher/whatif/record_chart.h"
#include "launcher/whatif/record_elements.h"
#include "launcher/whatif/record_file.h"
#include "launcher/whatif/report_chart.h"
#include "launcher/whatif/report_file.h"
#include "launcher/whatif/report_print.h"
#include "launcher/whatif/step_compare.h"
#include "policy/metric.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- html run ------------------------------------------------------------------ */

/* A run's report in a page: what was gained, who worked when,
 * shares, what the time went to, probes, progress and limits, watts. */

#define FAILED_MAX 50 /* slices that are listed */

/* --- what was gained ------------------------------------------------------ */

/* Time of equal parts over that of the run; 0 if nobody knows. */
static double html_run_gain(const struct report_file *f)
{
    const struct account_result *a = &f->account;

    return a->time > 0 && a->equal > 0 ? a->equal / a->time : 0;
}

/* Its lowest units a second, but only if there are two nodes; NULL: there is
 * none. */
static const char *html_run_slowest(const struct report_file *f)
{
    struct report_node *node = report_sum(f);
    const char *name = NULL;
    double least = (double)INFINITY;

    for (size_t i = 0; node && f->nodes > 1 && i < f->nodes; i++)
        if (node[i].units > 0 && node[i].units_per_s < least) {
            least = node[i].units_per_s;
            name = report_file_node(f, i);
        }
    free(node);
    return name;
}

/* A cell; "-" where nothing was done. */
static void html_run_efficiency(FILE *out, const struct account_result *a)
{
    if (account_efficiency(a) >= 0)
        html_cell(out, "%.3f", account_efficiency(a));
    else
        html_cell(out, "-");
}

static void bar_line(FILE *out,
                     const char *name,
                     double seconds,
                     double most,
                     enum html_bar look)
{
    html_row(out, name);
    html_bar(out, most > 0 ? seconds / most : 0, look);
    html_cell(out, "%.2f", seconds);
    html_row_end(out);
}

static void show_gain(FILE *out, const struct report_file *f)
{
    const struct account_result *a = &f->account;
    double gain = html_run_gain(f), most = fmax(a->equal, a->time);

    if (gain > 0)
        fprintf(out,
                "<p class=\"big\"><strong>%.2f\u00d7</strong> as fast as equal "
                "parts; efficiency %.2f</p>\n",
                gain, account_efficiency(a));
    html_table(out, "The whole run", "|<time|seconds");
    if (a->equal > 0)
        bar_line(out, "equal parts", a->equal, most, HTML_BAR_HATCHED);
    bar_line(out, "evenstep", a->time, most, HTML_BAR_PLAIN);
    bar_line(out, "ideal", a->ideal, most, HTML_BAR_OPEN);
    html_table_end(out);
}

static void show_rest(FILE *out, const struct report_file *f)
{
    const struct account_result *a = &f->account;

    html_table(out, "What the time went to", "|<of the run|seconds");
    bar_line(out, "ideal", a->ideal, a->time, HTML_BAR_OPEN);
    for (enum account_part k = 0; k < ACCOUNT_PARTS; k++)
        bar_line(out, account_name(k), a->part[k], a->time,
                 k == ACCOUNT_RESTARTS ? HTML_BAR_HATCHED : HTML_BAR_PLAIN);
    html_table_end(out);
}

/* --- pictures ------------------------------------------------------------- */

static void show_part(FILE *out,
                      const struct report_file *f,
                      enum chart_part part,
                      const char *caption)
{
    html_figure(out, caption);
    report_chart_part(out, f, 0, f->n < CHART_FRAMES ? f->n : CHART_FRAMES,
                      part, caption);
    html_figure_end(out);
}

static void show_pictures(FILE *out, const struct report_file *f)
{
    if (f->n == 0)
        return;
    if (f->n > CHART_FRAMES)
        html_line(out, "The pictures have the first %d of %zu frames.",
                  CHART_FRAMES, f->n);
    fprintf(out, "<div class=\"grid\">\n");
    show_part(out, f, CHART_WORK, report_chart_work(f));
    show_part(
        out, f, CHART_SHARES,
        "Shares of each frame\u2019s units, by node: colours and textures "
        "as in the table of nodes");
    show_part(
        out, f, CHART_REST,
        "What each frame\u2019s time went to; a mark where the loads were "
        "adjusted after it");
    fprintf(out, "</div>\n");
}

/* --- nodes ---------------------------------------------------------------- */

struct node_more { /* that report_sum() does not add up */
    double startup, joules;
};

static void add_joules(struct node_more *to,
                       const struct report_file *f,
                       const json_t *list,
                       size_t node)
{
    const json_t *e = report_file_find(list, report_file_node(f, node));

    to->joules += record_number(e, "joules", 0);
}

static struct node_more *sum_more(const struct report_file *f)
{
    struct node_more *m = calloc(f->nodes + 1, sizeof *m);

    for (size_t i = 0; m && i < f->n_slices; i++)
        m[f->slice[i].node].startup += f->slice[i].startup;
    for (size_t i = 0; m && i < f->n; i++)
        for (size_t k = 0; f->frame[i].energy && k < f->nodes; k++)
            add_joules(&m[k], f, f->frame[i].energy, k);
    return m;
}

static void node_line(FILE *out,
                      const struct report_file *f,
                      size_t i,
                      const struct report_node *n,
                      const struct node_more *m)
{
    const json_t *about = report_file_about(f, i);
    double jl = record_number(about, "JL", -1);

    fprintf(out, "<tr><th scope=\"row\">");
    report_chart_key(out, i);
    markup_print(out, report_file_node(f, i));
    fprintf(out, "</th>");
    html_bar(out, n->share, HTML_BAR_PLAIN);
    html_cell(out, "%.1f%%", 100 * n->share);
    html_cell(out, "%" PRId64, n->units);
    html_cell(out, "%.4g", n->units_per_s);
    html_cell(out, "%.3f", n->busy);
    html_cell(out, "%.3f", m->startup);
    html_cell(out, "%.3f", fmax(0, f->seconds - n->busy));
    html_cell(out, "%zu", n->slices);
    html_cell(out, "%zu", n->failed);
    if (jl >= 0)
        html_cell(out, "%.1f", jl);
    else
        html_cell(out, "-");
    if (m->joules > 0 && f->seconds > 0)
        html_cell(out, "%.1f", m->joules / f->seconds);
    else
        html_cell(out, "-");
    html_row_end(out);
}

static int show_nodes(FILE *out, const struct report_file *f)
{
    struct report_node *node = report_sum(f);
    struct node_more *more = sum_more(f);
    int rc = node && more ? 0 : -1;

    html_details(out, "Nodes", f->nodes <= 64);
    html_table(out, "Shares by node",
               "node|<of all units|share|units|units/s|busy s|start-up s|"
               "waiting s|slices|failed|JL %|watts");
    for (size_t i = 0; rc == 0 && i < f->nodes; i++)
        node_line(out, f, i, &node[i], &more[i]);
    html_table_end(out);
    html_details_end(out);
    free(node);
    free(more);
    return rc;
}

/* --- probes --------------------------------------------------------------- */

static double best_of(const json_t *nodes, const char *element)
{
    const json_t *one;
    double best = 0;
    size_t i;

    json_array_foreach(nodes, i, one)
    {
        best = fmax(best,
                    record_number(json_object_get(one, "counted"), element, 0));
    }
    return best;
}

static void probe_line(FILE *out,
                       const json_t *nodes,
                       const json_t *one,
                       const char *letters)
{
    const json_t *counted = json_object_get(one, "counted");

    html_row(out, record_text(one, "node"));
    html_cell(out, "%.1f", record_number(one, "JL", 0));
    for (const char *e = letters; *e; e++) {
        const char key[] = {*e, '\0'};
        double v = record_number(counted, key, -1), best = best_of(nodes, key);

        if (v < 0 || best <= 0)
            html_cell(out, "-");
        else
            html_cell(out, "%.4g (%.0f%%)", v, 100 * v / best);
    }
    html_cell(out, "%s",
              json_is_true(json_object_get(one, "cached")) ? "cache" : "");
    html_row_end(out);
}

#define HEAD_MAX  30 /* of a name */
#define HEADS_MAX (20 + (HEAD_MAX + 1) * ELEMENTS)

/* "node|JL %|CPU|…|from"; a name from a file makes no column of its own. */
static void probe_heads(char heads[HEADS_MAX],
                        const char *letters,
                        const json_t *nodes)
{
    size_t len = (size_t)snprintf(heads, HEADS_MAX, "node|JL %%");

    for (const char *e = letters; *e; e++) {
        const char *name = record_element_name(*e, nodes);

        size_t most = strcspn(name, "|");

        len += (size_t)snprintf(heads + len, HEADS_MAX - len, "|%.*s",
                                (int)(most < HEAD_MAX ? most : HEAD_MAX), name);
    }
    (void)snprintf(heads + len, HEADS_MAX - len, "|from");
}

static void show_probes(FILE *out, const struct report_file *f)
{
    const json_t *nodes = json_object_get(f->head, "nodes"), *one;
    char letters[ELEMENTS + 1], heads[HEADS_MAX];
    size_t i;

    if (!json_object_get(json_array_get(nodes, 0), "counted"))
        return;
    record_elements(letters, nodes, "counted");
    probe_heads(heads, letters, nodes);
    html_details(out, "Probes", 0);
    html_table(out, "What the nodes can do, and how much of the best", heads);
    json_array_foreach(nodes, i, one)
    {
        probe_line(out, nodes, one, letters);
    }
    html_table_end(out);
    html_details_end(out);
}

/* --- progress, limits, watts ---------------------------------------------- */

static void show_meters(FILE *out, const struct report_file *f)
{
    const json_t *meters = f->n > 0 ? f->frame[f->n - 1].meters : NULL, *one;
    size_t i;

    if (json_array_size(meters) == 0)
        return;
    html_details(out, "Progress and limits at the end", 0);
    html_table(out, "Progress and limits as the last frame ended",
               "node|progress|speed 1/s|waiting|limit|from|to|unit");
    json_array_foreach(meters, i, one)
    {
        html_row(out, record_text(one, "node"));
        html_cell(out, "%.4g", record_number(one, "progress", 0));
        html_cell(out, "%.4g", record_number(one, "speed", 0));
        html_cell(out, "%.0f%%", 100 * record_number(one, "waiting", 0));
        html_cell(out, "%.0f", record_number(one, "limit", 0));
        html_cell(out, "%.0f", record_number(one, "floor", 0));
        html_cell(out, "%.0f", record_number(one, "ceiling", 0));
        html_cell(out, "%s", record_text(one, "unit"));
        html_row_end(out);
    }
    html_table_end(out);
    html_details_end(out);
}

static void show_energy(FILE *out, const struct report_file *f)
{
    if (f->energy)
        html_line(out, "The nodes used %.1f kJ, %.0f W (%s).",
                  record_number(f->energy, "joules", 0) / 1e3,
                  record_number(f->energy, "watts", 0),
                  record_text(f->energy, "source"));
}

/* --- frames, failures ----------------------------------------------------- */

static void show_frames(FILE *out, const struct report_file *f)
{
    html_details(out, "Frames", 0);
    html_table(out, "Frames",
               "frame|units|seconds|ideal s|efficiency|equal parts s|slices|"
               "adjusted|left out");
    for (size_t i = 0; i < f->n; i++) {
        const struct report_frame *x = &f->frame[i];
        char number[24];

        snprintf(number, sizeof number, "%" PRId64, x->number + 1);
        html_row(out, number);
        html_cell(out, "%" PRId64, x->units);
        html_cell(out, "%.3f", x->account.time);
        html_cell(out, "%.3f", x->account.ideal);
        html_run_efficiency(out, &x->account);
        html_cell(out, "%.3f", x->account.equal);
        html_cell(out, "%zu", x->n);
        html_cell(out, "%s", x->adjusted ? "yes" : "");
        html_cell(out, "%" PRId64, x->left_out);
        html_row_end(out);
    }
    html_table_end(out);
    html_details_end(out);
}

static void failed_lines(FILE *out, const struct report_file *f)
{
    size_t listed = 0;

    for (size_t i = 0; i < f->n; i++)
        for (size_t k = 0; k < f->frame[i].n && listed < FAILED_MAX; k++) {
            const struct report_slice *s = &f->slice[f->frame[i].slice + k];

            if (s->done)
                continue;
            html_row(out, report_file_node(f, s->node));
            html_cell(out, "%" PRId64, f->frame[i].number + 1);
            html_cell(out, "%" PRId64 ":%" PRId64, s->begin,
                      s->begin + s->units);
            html_cell(out, "%.3f", s->seconds);
            html_row_end(out);
            listed++;
        }
}

static void show_failed(FILE *out, const struct report_file *f)
{
    char text[96];
    size_t n = 0;

    for (size_t i = 0; i < f->n_slices; i++)
        n += !f->slice[i].done;
    if (n == 0)
        return;
    html_details(out, "Slices that failed, or were lost", 0);
    snprintf(text, sizeof text, "%zu slices that failed or were lost%s", n,
             n > FAILED_MAX ? "; the first of them" : "");
    html_table(out, text, "node|frame|units|seconds");
    failed_lines(out, f);
    html_table_end(out);
    html_details_end(out);
}

/* What was gained. */
static void html_run_top(FILE *out, const struct report_file *f)
{
    fprintf(out, "<div class=\"grid\">\n<div>\n");
    show_gain(out, f);
    show_energy(out, f);
    fprintf(out, "</div>\n<div>\n");
    show_rest(out, f);
    fprintf(out, "</div>\n</div>\n");
}

/* The rest: 0, or -1 if memory ran out. */
static int html_run_rest(FILE *out, const struct report_file *f)
{
    show_pictures(out, f);
    if (show_nodes(out, f) < 0)
        return -1;
    show_probes(out, f);
    show_meters(out, f);
    show_frames(out, f);
    show_failed(out, f);
    return 0;
}

/* --- html record --------------------------------------------------------------- */

/* The report of a broadcast, of probes, of a task graph or of a
 * step in a page. */

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

static void html_record(FILE *out, const struct any_report *r)
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

/* --- side by side --------------------------------------------------------- */

static size_t runs_of(const struct any_report r[], size_t n, double *most)
{
    size_t runs = 0;

    *most = 0;
    for (size_t i = 0; i < n; i++)
        if (r[i].kind == REPORT_RUN) {
            *most = fmax(*most, r[i].run.account.time);
            runs++;
        }
    return runs;
}

static void compare_line(FILE *out, const struct any_report *r, double most)
{
    const struct report_file *f = &r->run;
    const char *slowest = html_run_slowest(f);
    double gain = html_run_gain(f);

    html_row(out, r->path);
    html_bar(out, most > 0 ? f->account.time / most : 0, HTML_BAR_PLAIN);
    html_cell(out, "%.2f", f->account.time);
    if (gain > 0)
        html_cell(out, "%.2f\u00d7", gain);
    else
        html_cell(out, "-");
    html_run_efficiency(out, &f->account);
    html_cell(out, "%zu", f->n);
    html_cell(out, "%zu", f->nodes);
    html_cell(out, "%s", f->policy);
    html_cell(out, "%s", slowest ? slowest : "-");
    if (f->energy)
        html_cell(out, "%.1f", record_number(f->energy, "joules", 0) / 1e3);
    else
        html_cell(out, "-");
    html_row_end(out);
}

static void compare(FILE *out, const struct any_report r[], size_t n)
{
    double most;

    if (runs_of(r, n, &most) < 2)
        return;
    html_table(
        out, "The runs side by side",
        "report|<time|seconds|against equal parts|efficiency|frames|nodes|"
        "policy|slowest node|kJ");
    for (size_t i = 0; i < n; i++)
        if (r[i].kind == REPORT_RUN)
            compare_line(out, &r[i], most);
    html_table_end(out);
}

static void contents(FILE *out, const struct any_report r[], size_t n)
{
    if (n < 2)
        return;
    fprintf(out, "<nav aria-label=\"Reports\"><ul>\n");
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "<li><a href=\"#r%zu\">", i + 1);
        markup_print(out, r[i].path);
        fprintf(out, "</a> (%s)</li>\n", report_kind_name(r[i].kind));
    }
    fprintf(out, "</ul></nav>\n");
}

/* --- one after the other -------------------------------------------------- */

static const char *ended(const struct report_file *f)
{
    if (f->journal)
        return "by its journal";
    return f->ended ? f->status : "it did not come to its end";
}

/* Whose it is, as far as its head tells. */
static void show_head(FILE *out, const struct any_report *r)
{
    const json_t *head = any_report_head(r);
    time_t at = (time_t)record_number(head, "written", 0);
    char when[40] = "", job[40] = "";
    struct tm tm;

    if (!head)
        return;
    if (at > 0 && gmtime_r(&at, &tm))
        (void)strftime(when, sizeof when, ", %Y-%m-%d %H:%M UTC", &tm);
    if (json_object_get(head, "job"))
        snprintf(job, sizeof job, ", step %.0f.%.0f",
                 record_number(head, "job", 0), record_number(head, "step", 0));
    html_line(out, "%s%s%s on %s%s%s, evenstep %s", report_kind_name(r->kind),
              record_text(head, "command")[0] ? " of " : "",
              record_text(head, "command"), record_text(head, "host"), job,
              when, record_text(head, "evenstep"));
}

static int show(FILE *out, const struct any_report *r, size_t number)
{
    int rc = 0;

    fprintf(out, "<section id=\"r%zu\">\n<h2>", number);
    markup_print(out, r->path);
    fprintf(out, "</h2>\n");
    if (r->kind == REPORT_RUN) {
        html_run_top(out, &r->run);
        html_line(out, "%zu frames on %zu nodes in %.2f s%s%s: %s.", r->run.n,
                  r->run.nodes, r->run.seconds,
                  r->run.policy[0] ? ", policy " : "", r->run.policy,
                  ended(&r->run));
        rc = html_run_rest(out, &r->run);
    } else {
        html_record(out, r);
    }
    show_head(out, r);
    fprintf(out, "</section>\n");
    return rc;
}

struct page {
    const struct any_report *report;
    size_t n;
};

static int write_page(FILE *out, const void *arg)
{
    const struct page *p = arg;
    int rc = 0;

    html_open(out, p->n == 1 ? "evenstep report" : "evenstep reports");
    contents(out, p->report, p->n);
    compare(out, p->report, p->n);
    rc = step_compare_page(out, p->report, p->n);
    fprintf(out, "<div class=\"grid\">\n");
    for (size_t i = 0; rc == 0 && i < p->n; i++)
        rc = show(out, &p->report[i], i + 1);
    fprintf(out, "</div>\n");
    html_close(out);
    return rc;
}

int report_html_write(const char *path,
                      const struct any_report r[],
                      size_t n,
                      struct es_error *err)
{
    const struct page page = {r, n};

    return out_file_write("--html", path, write_page, &page, err);
}
