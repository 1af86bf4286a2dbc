/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/report_html.h"
#include "launcher/base/markup.h"
#include "launcher/base/out_file.h"
#include "launcher/whatif/html.h"
#include "launcher/whatif/html_record.h"
#include "launcher/whatif/html_run.h"
#include "launcher/whatif/step_compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

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
