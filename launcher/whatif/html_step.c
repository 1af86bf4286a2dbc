/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/html_step.h"
#include "launcher/whatif/html.h"
#include "launcher/whatif/step_chart.h"
#include "launcher/whatif/step_show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A cell; "-" where nothing is known. */
static void cell_if(FILE *out, double v, int digits)
{
    if (v >= 0)
        html_cell(out, "%.*f", digits, v);
    else
        html_cell(out, "-");
}

/* --- what is said --------------------------------------------------------- */

static void show_top(FILE *out, const struct step_file *f)
{
    char line[STEP_LINES][STEP_LINE], text[STEP_ITERATIONS],
        energy[STEP_ENERGY];
    size_t n = step_show_head(line, f);

    for (size_t i = 0; i < n; i++)
        html_line(out, "%s", line[i]);
    fprintf(out,
            "<p class=\"big\"><strong>%.2f</strong> parallel efficiency = "
            "load balance %.2f \u00d7 %s %.2f",
            f->factor[STEP_PARALLEL].value, f->factor[STEP_BALANCE].value,
            step_show_busy(f), f->factor[STEP_COMMUNICATION].value);
    if (f->threads > 0)
        fprintf(out, " \u00d7 threads %.2f", f->factor[STEP_THREADS].value);
    fputs("</p>\n", out);
    html_line(out, "%.0f regions in %.2f s.", f->regions, f->elapsed);
    fputs("<div class=\"why\">\n", out);
    n = step_show_why(line, f);
    for (size_t i = 0; i < n; i++)
        html_line(out, "%s", line[i]);
    fputs("</div>\n", out);
    step_show_iterations(text, f);
    if (*text)
        html_line(out, "%s.", text);
    step_show_energy(energy, f);
    if (*energy)
        html_line(out, "%s.", energy);
}

/* --- tables --------------------------------------------------------------- */

static void show_factors(FILE *out, const struct step_file *f)
{
    double all = f->ranks * f->elapsed;

    if (!step_show_has_tree(f))
        return;
    html_table(out, "Factors of the parallel efficiency",
               "factor|<value||lost, rank-s|of all");
    for (int k = 0; k < STEP_FACTORS; k++) {
        const char *name = step_factor_name(f, (enum step_factor)k);
        double v = f->factor[k].value, lost = f->factor[k].lost;
        size_t depth = strspn(name, " ");

        if (v < 0)
            continue;
        fprintf(out,
                "<tr><th scope=\"row\" style=\"padding-left:%.1frem\">%s</th>",
                (double)depth * 0.6, name + depth);
        html_bar(out, v, HTML_BAR_PLAIN);
        html_cell(out, "%.3f", v);
        cell_if(out, lost, 2);
        if (lost >= 0 && all > 0)
            html_cell(out, "%.1f%%", 100 * lost / all);
        else
            html_cell(out, "-");
        html_row_end(out);
    }
    html_table_end(out);
}

static void show_sites(FILE *out, const struct step_file *f)
{
    const json_t *sites = json_object_get(f->line, "sites");
    struct step_site s;
    double most = 0;
    size_t shown = 0;

    for (size_t i = 0; i < json_array_size(sites) && shown < STEP_SITES; i++) {
        if (!step_show_site(&s, json_array_get(sites, i)))
            continue;
        if (shown++ == 0) {
            most = s.waiting;
            html_table(out, "Call sites with most waiting, over all ranks",
                       "call|<waiting|rank-s|calls|<called by");
        }
        html_row(out, s.call);
        html_bar(out, most > 0 ? s.waiting / most : 0, HTML_BAR_PLAIN);
        html_cell(out, "%.3f", s.waiting);
        html_cell(out, "%.0f", s.calls);
        html_left(out, s.where);
        html_row_end(out);
    }
    if (shown > 0)
        html_table_end(out);
}

static void rank_line(FILE *out,
                      const struct step_row *r,
                      double most,
                      int has_cpu)
{
    double all = r->useful + r->waiting;
    char name[32], state[STEP_SHORT], node[STEP_NAME_LEN + STEP_SHORT];

    snprintf(name, sizeof name, "%.0f", r->rank);
    html_row(out, name);
    snprintf(node, sizeof node, "%s%s", r->node, step_show_lost(state, r));
    html_left(out, node);
    html_bar(out, most > 0 ? r->useful / most : 0, HTML_BAR_PLAIN);
    html_cell(out, "%.1f%%", all > 0 ? 100 * r->useful / all : 0);
    html_cell(out, "%.3f", r->useful);
    html_cell(out, "%.3f", r->waiting);
    html_cell(out, "%.0f", r->last);
    if (has_cpu) {
        cell_if(out, r->cpu, 2);
        cell_if(out, r->run_delay, 2);
        cell_if(out, r->throttled, 2);
        cell_if(out, r->io_wait, 2);
        cell_if(out, r->rss < 0 ? -1 : r->rss / 1e6, 0);
        html_left(out, step_show_state(state, r));
    }
    html_row_end(out);
}

static void show_ranks(FILE *out, const struct step_file *f)
{
    int has_cpu = step_show_has_cpu(f);
    double most = 0;

    for (size_t i = 0; i < f->n_ranks; i++)
        most = fmax(most, f->rank[i].useful + f->rank[i].waiting);
    for (size_t i = 0; i < f->n_ranks && i < STEP_ROWS; i++) {
        if (i == 0) {
            html_details(out, "Ranks", f->n_ranks <= STEP_WORST);
            html_table(out,
                       f->n_ranks > STEP_ROWS
                           ? "The 64 worst ranks; --json has all"
                           : "Ranks, the worst first",
                       has_cpu ? "rank|<node|<useful time|useful|useful s|"
                                 "waiting s|came last|CPU s|delay s|quota s|"
                                 "I/O s|RSS MB|<how it ended"
                               : "rank|<node|<useful time|useful|useful s|"
                                 "waiting s|came last");
        }
        rank_line(out, f->worst_first[i], most, has_cpu);
    }
    if (f->n_ranks > 0) {
        html_table_end(out);
        html_details_end(out);
    }
}

static void node_line(FILE *out, const struct step_row *x, double most)
{
    double all = x->useful + x->waiting;
    char name[STEP_NAME_LEN + 32];

    snprintf(name, sizeof name, x->lost >= 0 ? "%s (lost after %.4g s)" : "%s",
             x->node, x->lost);
    html_row(out, name);
    html_bar(out, most > 0 ? x->useful / fmax(x->rank, 1) / most : 0,
             HTML_BAR_PLAIN);
    html_cell(out, "%.1f%%", all > 0 ? 100 * x->useful / all : 0);
    html_cell(out, "%.0f", x->rank);
    html_cell(out, "%.3f", x->useful);
    html_cell(out, "%.3f", x->waiting);
    html_cell(out, "%.0f", x->last);
    html_cell(out, "%.3f", x->node_seconds);
    cell_if(out, step_file_number(x->line, "JL"), 1);
    cell_if(out, step_file_number(x->line, "watts"), 1);
    html_row_end(out);
}

static void show_nodes(FILE *out, const struct step_file *f)
{
    double most = 0;

    for (size_t i = 0; i < f->n_nodes; i++)
        most = fmax(most, (f->node[i].useful + f->node[i].waiting)
                              / fmax(f->node[i].rank, 1));
    html_details(out, "Nodes", f->n_nodes <= 64);
    html_table(
        out, "Nodes",
        "node|<useful time of a rank|useful|ranks|useful s|waiting s|came "
        "last|others waited, node-s|JL %|watts");
    for (size_t i = 0; i < f->n_nodes; i++)
        node_line(out, &f->node[i], most);
    html_table_end(out);
    html_details_end(out);
}

static void show_picture(FILE *out, const struct step_file *f)
{
    if (step_strips_known(f)) {
        fputs("<div class=\"strip\">", out);
        html_figure(out, f->n_ranks > STEP_ROWS
                             ? "How the time went, of the 64 worst ranks"
                             : "How the time of each rank went");
        step_strips_part(out, f, "Useful time, I/O and waiting of each rank");
    } else {
        fputs("<div>", out);
        html_figure(out, "Time of each rank or node: useful, then waiting");
        step_chart_part(out, f, "Useful and waiting time, a bar each");
    }
    html_figure_end(out);
    fputs("</div>\n", out);
}

void html_step(FILE *out, const struct any_report *r)
{
    const struct step_file *f = &r->step;

    show_top(out, f);
    fputs("<div class=\"grid\">\n", out);
    show_picture(out, f);
    fputs("<div>\n", out);
    show_factors(out, f);
    show_sites(out, f);
    fputs("</div>\n</div>\n", out);
    show_ranks(out, f);
    show_nodes(out, f);
}
