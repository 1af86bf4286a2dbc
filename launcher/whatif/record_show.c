/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/record_show.h"
#include "launcher/whatif/record_elements.h"

#include <stdlib.h>
#include <string.h>

/* --- a broadcast ---------------------------------------------------------- */

static void print_bcast(FILE *out, const struct record_file *f)
{
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
    fprintf(
        out,
        "\n%s: %.1f MB to %.0f nodes in %.3f s; the front end sent %.1f MB, "
        "the nodes pulled %.0f chunks\n",
        record_text(f->first, "source"), bytes / 1e6,
        record_number(f->first, "nodes", 0),
        record_number(f->first, "seconds", 0),
        record_number(f->first, "home_bytes_sent", 0) / 1e6,
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

int record_show_table(FILE *out, const struct any_report *r)
{
    if (r->kind == REPORT_BCAST)
        print_bcast(out, &r->record);
    else if (r->kind == REPORT_PROBE)
        print_probe(out, &r->record);
    else
        print_graph(out, &r->record);
    return ferror(out) ? -1 : 0;
}

int record_show_json(FILE *out, const struct any_report *r)
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
