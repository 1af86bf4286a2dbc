/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/top_page.h"
#include "pmix_bcast/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX  (4 * TOP_NODES_MAX)
#define FOLD_LEAST 20 /* columns; less is cut */

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

/* Append a line and, of what does not fit, others that are indented. */
static void add_folded(struct top_page *page, const char *text, size_t columns)
{
    const char *indent = "";

    while (*text) {
        size_t room = columns - strlen(indent), len = strlen(text);
        char *line = next_line(page);

        if (columns >= FOLD_LEAST && len > room)
            for (len = room; len > room / 2 && text[len] != ' '; len--)
                ;
        if (!line)
            return;
        snprintf(line, TOP_LINE, "%s%.*s", indent, (int)len, text);
        text += len;
        text += strspn(text, " ");
        indent = "  ";
    }
}

void top_page_progress(struct top_page *page,
                       const struct top_step *step,
                       size_t columns)
{
    char line[TOP_LINE];

    if (step->kind == TOP_STEP)
        return;
    top_title_line(line, step);
    add_folded(page, line, columns);
    top_bar_line(line, step, columns);
    add_folded(page, line, columns);
    top_sum_line(line, step);
    add_folded(page, line, columns);
    top_longest_line(line, step, columns);
    add_folded(page, line, columns);
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

/* What a line ends with, behind commas, is left out where it does not fit. */
static void cut_parts(char *line, size_t columns)
{
    char *comma;

    while (strlen(line) > columns && (comma = strrchr(line, ',')) != NULL)
        *comma = '\0';
}

/* Bring the slowest so many of n to the front. */
static void slowest_first(struct top_group rack[],
                          size_t n,
                          size_t front,
                          enum aggregate how)
{
    for (size_t i = 0; i < front; i++)
        for (size_t j = i + 1; j < n; j++)
            if (rack[j].speed[how] < rack[i].speed[how]) {
                struct top_group slower = rack[j];

                rack[j] = rack[i];
                rack[i] = slower;
            }
}

static void add_racks(struct top_page *page,
                      const struct top_group rack[],
                      size_t n,
                      size_t columns)
{
    char *line;

    for (size_t i = 0; i < n; i++)
        if ((line = next_line(page)) != NULL)
            top_group_line(line, &rack[i], columns);
}

void top_page_meters(struct top_page *page,
                     struct top_step *step,
                     enum top_order order,
                     size_t columns,
                     size_t racks)
{
    struct top_group *rack, all;
    char line[TOP_LINE], *next;
    size_t n, below;

    if (step->n == 0)
        return;
    top_sort(step, order);
    n = top_groups_find(step, &rack, &all);
    below = n > racks ? n - racks : 0;
    if (below > 0)
        slowest_first(rack, n, racks, step->aggregate);
    top_step_line(line, step);
    add_folded(page, line, columns);
    if (step->reason[0])
        add_folded(page, step->reason, columns);
    if (n > 0 || !step->reason[0])
        add_racks(page, &all, 1, columns);
    add_racks(page, rack, n - below, columns);
    if ((next = next_line(page)) != NULL)
        snprintf(next, TOP_LINE, "%s", top_head(step));
    page->head = page->n;
    for (size_t i = 0; i < step->n; i++)
        if ((next = next_line(page)) != NULL) {
            top_node_line(next, step, &step->node[i]);
            cut_parts(next, columns);
        }
    if (below > 0)
        add_racks(page, rack + racks, below, columns);
    free(rack);
}

void top_page_clear(struct top_page *page)
{
    free(page->line);
    memset(page, 0, sizeof *page);
}
