/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/probe_print.h"
#include "launcher/base/json_member.h"
#include "launcher/base/report_head.h"
#include "launcher/probe/probe_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAR 24 /* columns of the longest bar */

/* --- outliers ------------------------------------------------------------- */

static int is_alike(const struct probe_node_view *a,
                    const struct probe_node_view *b)
{
    return strcmp(a->hardware, b->hardware) == 0
           && a->result[ELEMENT_C].count == b->result[ELEMENT_C].count;
}

/* A node's kind is the first node that is like it. */
static uint32_t kind_of(const struct probe_node_view node[], size_t i)
{
    uint32_t k = 0;

    while (!is_alike(&node[k], &node[i]))
        k++;
    return k;
}

/* The lowest limit but 0, which means never. */
static double lowest_limit(const double limit[ELEMENTS])
{
    double lowest = (double)INFINITY;

    for (int e = 0; e < ELEMENTS; e++)
        if (limit[e] > 0 && limit[e] < lowest)
            lowest = limit[e];
    return lowest;
}

static size_t keep_far(struct outlier found[],
                       size_t count,
                       const double limit[ELEMENTS])
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (limit[found[i].element] > 0
            && fabs(found[i].deviations) > limit[found[i].element])
            found[kept++] = found[i];
    return kept;
}

int probe_outliers(const struct probe_node_view node[],
                   size_t n,
                   const struct config_probe *config,
                   struct outlier **found,
                   size_t *count)
{
    double(*measured)[ELEMENTS] = calloc(n, sizeof *measured);
    double *scratch = calloc(n, sizeof *scratch);
    uint32_t *kind = calloc(n, sizeof *kind);
    int rc = -1;

    *count = 0;
    *found = calloc(n, ELEMENTS * sizeof **found);
    if (measured && scratch && kind && *found) {
        for (size_t i = 0; i < n; i++) {
            kind[i] = kind_of(node, i);
            for (int e = 0; e < ELEMENTS; e++)
                measured[i][e] = node[i].result[e].state == PROBE_MEASURED
                                     ? node[i].result[e].value
                                     : (double)NAN;
        }
        *count = outlier_find((const double(*)[ELEMENTS])measured, kind, n,
                              lowest_limit(config->outlier), scratch, *found,
                              n * ELEMENTS);
        *count = keep_far(*found, *count, config->outlier);
        rc = 0;
    }
    free(measured);
    free(scratch);
    free(kind);
    return rc;
}

void probe_outlier_text(char text[200],
                        const struct probe_node_view node[],
                        const struct outlier *o)
{
    (void)snprintf(text, 200,
                   "%.80s: the %s is %.0f %% %s the median of its kind (%.1f "
                   "robust deviations)",
                   node[o->node].name,
                   probe_name(&node[o->node].result[o->element], o->element),
                   100 * fabs(o->off), o->off < 0 ? "below" : "above",
                   fabs(o->deviations));
}

/* --- for people ----------------------------------------------------------- */

static double best_of(const struct probe_node_view node[],
                      size_t n,
                      enum element e)
{
    double best = 0;

    for (size_t i = 0; i < n; i++)
        if (probe_amount(&node[i].result[e]) > best)
            best = probe_amount(&node[i].result[e]);
    return best;
}

static void print_line(const char *name,
                       int width,
                       const struct probe_result *r,
                       double best)
{
    char bar[BAR + 1] = "";
    int len = best > 0 ? (int)lround(BAR * (probe_amount(r) / best)) : 0;

    if (r->state != PROBE_MEASURED) {
        printf("  %-*s  not measured: %s\n", width, name, r->what);
        return;
    }
    memset(bar, '#', (size_t)len);
    bar[len] = '\0';
    printf("  %-*s  %9.4g +-%2.0f %%  %-*s  %s\n", width, name, r->value,
           100 * r->spread, BAR, bar, r->what);
}

/* Where the results come from; nodes of which that is the same share a line. */
static void print_origin(const struct probe_node_view node[], size_t n)
{
    size_t cached = 0;
    double seconds = 0;

    for (size_t i = 0; i < n; i++) {
        double own = 0;

        cached += node[i].cached != 0;
        for (int e = 0; !node[i].cached && e < ELEMENTS; e++)
            own += node[i].result[e].seconds;
        seconds = own > seconds ? own : seconds;
    }
    if (cached > 0)
        printf("%zu of %zu nodes from the cache\n", cached, n);
    if (cached < n)
        printf("%zu of %zu nodes measured now, %.2f s of probes at most\n",
               n - cached, n, seconds);
    for (size_t i = 0; i < n; i++)
        if (node[i].why[0])
            printf("  %s: %s\n", node[i].name, node[i].why);
}

static void print_title(const struct probe_result *r, enum element e)
{
    const char *unit = probe_unit(r, e);

    printf("%c  %s%s%s%s\n", element_letter(e), probe_name(r, e),
           *unit ? ", " : "", unit, r->less ? "; less is better" : "");
}

int probe_print_table(const struct probe_node_view node[], size_t n)
{
    int width = 4;

    for (size_t i = 0; i < n; i++)
        if ((int)strlen(node[i].name) > width)
            width = (int)strlen(node[i].name);
    for (int e = 0; e < ELEMENTS; e++) {
        double best = best_of(node, n, (enum element)e);
        int said = 0;

        for (size_t i = 0; i < n; i++) {
            if (node[i].result[e].state == PROBE_LEFT_OUT)
                continue;
            if (!said)
                print_title(&node[i].result[e], (enum element)e);
            said = 1;
            print_line(node[i].name, width, &node[i].result[e], best);
        }
    }
    print_origin(node, n);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : -1;
}

/* --- for programs --------------------------------------------------------- */

static json_t *metrics_of(const struct probe_node_view *node)
{
    json_t *json = json_pack("{s:s}", "name", node->name);

    for (int e = 0; e < ELEMENTS; e++) {
        const char key[] = {element_letter((enum element)e), '\0'};

        if (!isnan(node->metrics[e])
            && (e < ELEMENT_SITE || node->metrics[e] > 0)
            && json_object_set_new(json, key, json_real(node->metrics[e]))
                   < 0) {
            json_decref(json);
            return NULL;
        }
    }
    return json;
}

static json_t *details_of(const struct probe_node_view *node)
{
    return json_pack("{s:b, s:o, s:o, s:o}", "cached", node->cached, "why",
                     json_text(node->why), "hardware",
                     json_text(node->hardware), "elements",
                     probe_to_json(node->result));
}

static json_t *outlier_to_json(const struct probe_node_view node[],
                               const struct outlier *o)
{
    const char element[] = {element_letter(o->element), '\0'};

    return json_pack("{s:s, s:s, s:f, s:f}", "node", node[o->node].name,
                     "element", element, "deviations", o->deviations, "off",
                     o->off);
}

int probe_print_json(const struct probe_node_view node[],
                     size_t n,
                     const struct outlier outlier[],
                     size_t count)
{
    json_t *nodes = json_array(), *details = json_object(),
           *outliers = json_array();
    json_t *all = json_pack("{s:o, s:o, s:o}", "nodes", nodes, "details",
                            details, "outliers", outliers);
    int rc = all ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < n; i++)
        if (json_array_append_new(nodes, metrics_of(&node[i])) < 0
            || json_object_set_new(details, node[i].name, details_of(&node[i]))
                   < 0)
            rc = -1;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc =
            json_array_append_new(outliers, outlier_to_json(node, &outlier[i]));
    if (rc == 0
        && (json_dumpf(all, stdout, JSON_COMPACT) < 0 || putchar('\n') == EOF
            || fflush(stdout) != 0))
        rc = -1;
    json_decref(all);
    return rc;
}

/* --- a report ------------------------------------------------------------- */

static json_t *outliers_of(const struct probe_node_view node[],
                           const struct outlier outlier[],
                           size_t count)
{
    json_t *all = json_array();

    for (size_t i = 0; all && i < count; i++)
        if (json_array_append_new(all, outlier_to_json(node, &outlier[i]))
            < 0) {
            json_decref(all);
            all = NULL;
        }
    return all;
}

static json_t *report_line(const struct probe_node_view *node)
{
    json_t *counted = metrics_of(node);
    json_t *line = json_pack("{s:s, s:s, s:b}", "type", "node", "node",
                             node->name, "cached", node->cached);

    if (counted)
        (void)json_object_del(counted, "name");
    line = json_member(line, "why", json_text(node->why));
    line = json_member(line, "hardware", json_text(node->hardware));
    line = json_member(line, "counted", counted);
    return json_member(line, "probe", probe_to_json(node->result));
}

int probe_print_report(struct report_out *out,
                       const struct probe_node_view node[],
                       size_t n,
                       const struct outlier outlier[],
                       size_t count,
                       struct es_error *err)
{
    json_t *first;
    int rc;

    if (!out->file)
        return 0;
    first = json_pack("{s:s, s:I}", "type", "probe", "nodes", (json_int_t)n);
    first = json_member(first, "outliers", outliers_of(node, outlier, count));
    first = json_member(first, "report", report_head("probe", 0, 0));
    rc = report_out_line(out, first, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = report_out_line(out, report_line(&node[i]), err);
    return rc;
}
