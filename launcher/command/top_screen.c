/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/top_screen.h"
#include "launcher/command/top_print.h"

#include <ncurses.h>
#include <stdlib.h>
#include <unistd.h>

#define LOOK_MS 500 /* the front end writes as often */

static const char keys[] = "sort by n)ame, s)peed, w)aiting, l)imit; q)uit";

static void put_line(int row, const char *line)
{
    if (row < LINES - 1)
        (void)mvaddnstr(row, 0, line, COLS); /* cut at the end of the screen */
}

/* Returns the row below what was drawn. */
static int draw_groups(const struct top_step *step, int row)
{
    struct top_group *rack, all;
    size_t n = top_groups_find(step, &rack, &all);
    char line[TOP_LINE];

    top_group_line(line, &all);
    put_line(row++, line);
    for (size_t i = 0; i < n; i++) {
        top_group_line(line, &rack[i]);
        put_line(row++, line);
    }
    free(rack);
    return row;
}

/* Likewise. */
static int draw_nodes(struct top_step *step, enum top_order order, int row)
{
    char line[TOP_LINE];

    if (step->n == 0)
        return row;
    top_sort(step, order);
    top_step_line(line, step);
    put_line(row++, line);
    row = draw_groups(step, row);
    (void)attron(A_BOLD);
    put_line(row++, top_head(step));
    (void)attroff(A_BOLD);
    for (size_t k = 0; k < step->n; k++) {
        top_node_line(line, step, &step->node[k]);
        put_line(row++, line);
    }
    return row;
}

static void draw(struct top_step steps[], size_t n, enum top_order order)
{
    char line[TOP_LINE];
    int row = 0;

    (void)erase();
    if (n == 0)
        put_line(row++, "no step of yours reports progress here");
    for (size_t i = 0; i < n; i++) {
        if (steps[i].is_run) {
            top_run_line(line, &steps[i], COLS);
            put_line(row++, line);
        }
        row = draw_nodes(&steps[i], order, row) + 1;
    }
    (void)mvaddnstr(LINES - 1, 0, keys, COLS);
    (void)refresh();
}

static enum top_order order_of(int key, enum top_order before)
{
    switch (key) {
    case 'n':
        return TOP_BY_NAME;
    case 's':
        return TOP_BY_SPEED;
    case 'w':
        return TOP_BY_WAITING;
    case 'l':
        return TOP_BY_LIMIT;
    default:
        return before;
    }
}

static int show(uint32_t job, const char *metrics, struct es_error *err)
{
    enum top_order order = TOP_BY_NAME;
    int key = 0, rc = 0;

    while (rc == 0 && key != 'q') {
        struct top_step *steps;
        size_t n = top_steps_find(&steps, job);

        draw(steps, n, order);
        if (metrics)
            rc = top_metrics_write(metrics, steps, n, err);
        top_steps_free(steps, n);
        key = getch();
        order = order_of(key, order);
    }
    return rc;
}

int top_screen(uint32_t job, const char *metrics, struct es_error *err)
{
    SCREEN *screen =
        isatty(STDOUT_FILENO) ? newterm(NULL, stdout, stdin) : NULL;
    int rc;

    if (!screen)
        return es_fail(err, ES_USAGE, "give --once, or set TERM",
                       "top: this is no terminal that can show it");
    (void)cbreak();
    (void)noecho();
    (void)curs_set(0);
    timeout(LOOK_MS);
    rc = show(job, metrics, err);
    (void)endwin();
    delscreen(screen);
    return rc;
}
