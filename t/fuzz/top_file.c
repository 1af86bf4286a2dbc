/* SPDX-License-Identifier: BSD-2-Clause */
/* Any JSON as how a step stands: refused and nothing kept, or plain names and
 * finite numbers, that can be sorted, grouped and printed. */
#include "launcher/command/top_print.h"

#include "folder.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

static int is_plain(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text <= 32 || (unsigned char)*text >= 127)
            return 0;
    return 1;
}

static int is_amount(double v)
{
    return isfinite(v) && v >= 0;
}

static int is_sound(const struct top_node *n)
{
    return is_plain(n->name) && is_plain(n->rack) && is_plain(n->unit)
           && is_amount(n->slots) && is_amount(n->progress)
           && is_amount(n->speed) && is_amount(n->waiting) && is_amount(n->skew)
           && is_amount(n->misuse) && is_amount(n->limit) && is_amount(n->floor)
           && is_amount(n->ceiling);
}

static void print(struct top_step *step)
{
    struct top_group *racks, whole;
    size_t n = top_groups_find(step, &racks, &whole);
    char line[TOP_LINE], path[4096];

    top_step_line(line, step);
    must(strlen(line) < sizeof line);
    if (step->is_run)
        for (int columns = 0; columns <= TOP_LINE; columns++) {
            top_run_line(line, step, columns);
            must(strlen(line) < sizeof line);
        }
    for (size_t i = 0; i < n; i++) {
        top_group_line(line, &racks[i]);
        must(strlen(line) < sizeof line);
    }
    free(racks);
    for (enum top_order o = TOP_BY_NAME; o <= TOP_BY_LIMIT; o++) {
        top_sort(step, o);
        for (size_t i = 0; i < step->n; i++) {
            top_node_line(line, step, &step->node[i]);
            must(strlen(line) < sizeof line && !strchr(line, '\033'));
        }
    }
    must(top_metrics_write(folder_path(path, "metrics"), step, 1, NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *json = json_loadb((const char *)data, size, 0, NULL);
    struct top_step step;

    if (json && top_step_read(&step, json) == 0) {
        must((step.n > 0 || step.is_run) && is_amount(step.skew)
             && is_plain(step.meter));
        must(step.aggregate < AGGREGATES);
        for (size_t i = 0; i < step.n; i++)
            must(is_sound(&step.node[i]));
        print(&step);
        free(step.node);
    } else if (json) {
        must(step.n == 0 && !step.node);
    }
    json_decref(json);
    return 0;
}
