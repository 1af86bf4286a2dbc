/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/top_page.h"
#include "pmix_bcast/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX (4 * TOP_NODES_MAX)

/* The next line, or NULL. */
static char *next_line(struct top_page *page)
{
    char(*line)[TOP_LINE] = array_grow(page->line, &page->cap, page->n + 1,
                                       sizeof *line, LINES_MAX);

    if (!line)
        return NULL;
    page->line = line;
    return page->line[page->n++];
}

void top_page_progress(struct top_page *page,
                       const struct top_step *step,
                       size_t columns)
{
    char *line;

    if (step->kind == TOP_STEP)
        return;
    if ((line = next_line(page)) != NULL)
        top_title_line(line, step);
    if ((line = next_line(page)) != NULL)
        top_bar_line(line, step, columns);
    if ((line = next_line(page)) != NULL)
        top_sum_line(line, step);
    page->head = page->n;
}

void top_page_parts(struct top_page *page,
                    struct top_step *step,
                    enum top_order order,
                    size_t columns)
{
    char *line;

    if (step->parts == 0)
        return;
    top_parts_sort(step, order);
    if ((line = next_line(page)) != NULL)
        top_part_head(line, step, columns);
    page->head = page->n;
    for (size_t i = 0; i < step->parts; i++)
        if ((line = next_line(page)) != NULL)
            top_part_line(line, step, &step->part[i], columns);
}

static void add_groups(struct top_page *page, const struct top_step *step)
{
    struct top_group *rack, all;
    size_t n = top_groups_find(step, &rack, &all);
    char *line = next_line(page);

    if (line)
        top_group_line(line, &all);
    for (size_t i = 0; i < n; i++)
        if ((line = next_line(page)) != NULL)
            top_group_line(line, &rack[i]);
    free(rack);
}

void top_page_meters(struct top_page *page,
                     struct top_step *step,
                     enum top_order order)
{
    char *line;

    if (step->n == 0)
        return;
    top_sort(step, order);
    if ((line = next_line(page)) != NULL)
        top_step_line(line, step);
    add_groups(page, step);
    if ((line = next_line(page)) != NULL)
        snprintf(line, TOP_LINE, "%s", top_head(step));
    page->head = page->n;
    for (size_t i = 0; i < step->n; i++)
        if ((line = next_line(page)) != NULL)
            top_node_line(line, step, &step->node[i]);
}

void top_page_clear(struct top_page *page)
{
    free(page->line);
    memset(page, 0, sizeof *page);
}
