/* SPDX-License-Identifier: BSD-2-Clause */
/* Any JSON as how a step stands: refused and nothing kept, or plain names and
 * finite numbers, that can be sorted, grouped and printed. */
#include "launcher/command/top_metrics.h"
#include "launcher/command/top_page.h"

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

static int is_plain_line(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 32 || (unsigned char)*text >= 127)
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

static int is_known(double v)
{
    return isfinite(v) && (v >= 0 || v == -1);
}

static int is_sound_part(const struct top_part *p)
{
    return is_plain(p->name) && p->state < TOP_STATES && is_amount(p->slots)
           && is_amount(p->running) && is_amount(p->part) && is_amount(p->done)
           && is_amount(p->underway) && is_amount(p->total) && is_known(p->rate)
           && is_known(p->left) && is_known(p->waiting);
}

static void look_at_lines(struct top_page *page)
{
    for (size_t i = 0; i < page->n; i++)
        must(strnlen(page->line[i], TOP_LINE) < TOP_LINE
             && is_plain_line(page->line[i]));
    must(page->head <= page->n);
    top_page_clear(page);
}

static void print(struct top_step *step)
{
    char path[4096], line[TOP_LINE];

    for (enum top_order o = TOP_BY_LAG; o <= TOP_BY_LIMIT; o++)
        for (size_t columns = 0; columns <= TOP_LINE; columns += 20) {
            struct top_page page = {.n = 0};

            top_page_progress(&page, step, columns);
            top_page_parts(&page, step, o, columns);
            top_page_meters(&page, step, o, columns, columns / 20);
            look_at_lines(&page);
        }
    top_list_line(line, step);
    must(strlen(line) < sizeof line);
    must(top_metrics_write(folder_path(path, "metrics"), step, 1, NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *json = json_loadb((const char *)data, size, 0, NULL);
    struct top_step step;

    if (json && top_step_read(&step, json) == 0) {
        must((step.n > 0 || step.kind != TOP_STEP) && is_amount(step.skew)
             && is_plain(step.meter) && is_plain(step.what));
        must(step.aggregate < AGGREGATES);
        for (size_t i = 0; i < step.n; i++)
            must(is_sound(&step.node[i]));
        for (size_t i = 0; i < step.parts; i++)
            must(is_sound_part(&step.part[i]));
        print(&step);
        top_step_clear(&step);
    } else if (json) {
        must(step.n == 0 && !step.node && !step.part);
    }
    json_decref(json);
    return 0;
}
