/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/html_run.h"
#include "launcher/base/markup.h"
#include "launcher/whatif/html.h"
#include "launcher/whatif/record_elements.h"
#include "launcher/whatif/record_file.h"
#include "launcher/whatif/report_chart.h"
#include "launcher/whatif/report_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAILED_MAX 50 /* slices that are listed */

/* --- what was gained ------------------------------------------------------ */

double html_run_gain(const struct report_file *f)
{
    const struct account_result *a = &f->account;

    return a->time > 0 && a->equal > 0 ? a->equal / a->time : 0;
}

const char *html_run_slowest(const struct report_file *f)
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

void html_run_efficiency(FILE *out, const struct account_result *a)
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

void html_run_top(FILE *out, const struct report_file *f)
{
    fprintf(out, "<div class=\"grid\">\n<div>\n");
    show_gain(out, f);
    show_energy(out, f);
    fprintf(out, "</div>\n<div>\n");
    show_rest(out, f);
    fprintf(out, "</div>\n</div>\n");
}

int html_run_rest(FILE *out, const struct report_file *f)
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
