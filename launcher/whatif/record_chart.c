/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/record_chart.h"
#include "launcher/base/svg.h"

#include <math.h>
#include <string.h>

/* Pixels. */
#define WIDTH 560
#define LEFT  120
#define RIGHT 60
#define TOP   6
#define ROW   22
#define AXIS  22

#define REAL      "#8fb8da"
#define PLANNED   "#eee"
#define EDGE      "#888"
#define GRID      "#ddd"
#define TICKS_MIN 5

struct chart {
    FILE *out;
    const json_t *lines;
    double seconds; /* of its width */
    size_t rows;
};

static double x_of(const struct chart *c, double seconds)
{
    return LEFT + fmax(0, fmin(seconds / c->seconds, 1)) * WIDTH;
}

static double y_of(size_t row)
{
    return TOP + (double)row * ROW;
}

static void open_chart(const struct chart *c, const char *label)
{
    double height = y_of(c->rows) + AXIS;

    if (label)
        svg_open_part(c->out, LEFT + WIDTH + RIGHT, height, label);
    else
        svg_open(c->out, LEFT + WIDTH + RIGHT, height);
}

static void draw_axis(const struct chart *c)
{
    double power = pow(10, floor(log10(c->seconds / TICKS_MIN)));
    double most = c->seconds / TICKS_MIN / power, y = y_of(c->rows);
    double step = power * (most >= 5 ? 5 : most >= 2 ? 2 : 1);
    char text[32];

    for (int i = 0; i * step <= c->seconds * 1.0001; i++) {
        double x = x_of(c, i * step);

        svg_line(c->out, x, TOP, x, y, GRID);
        snprintf(text, sizeof text, "%g s", i * step);
        svg_text(c->out, x, y + 15, SVG_MIDDLE, text);
    }
}

static void draw_name(const struct chart *c, size_t row, const char *name)
{
    char text[32];

    snprintf(text, sizeof text, "%.18s", name);
    svg_text(c->out, LEFT - 6, y_of(row) + 15, SVG_END, text);
}

/* --- a broadcast ---------------------------------------------------------- */

static void draw_node(const struct chart *c, size_t i, const json_t *one)
{
    double s = record_number(one, "seconds", -1);
    char title[256];
    const struct svg_box box = {.x = LEFT,
                                .y = y_of(i) + 3,
                                .width = x_of(c, fmax(s, 0)) - LEFT,
                                .height = ROW - 6,
                                .fill = REAL,
                                .stroke = EDGE,
                                .title = title};

    draw_name(c, i, record_text(one, "node"));
    if (s < 0) {
        svg_text(c->out, LEFT + 4, y_of(i) + 15, SVG_START, "not there");
        return;
    }
    snprintf(title, sizeof title, "%.100s: %.3f s", record_text(one, "node"),
             s);
    svg_box(c->out, &box);
    snprintf(title, sizeof title, "%.3f s", s);
    svg_text(c->out, x_of(c, s) + 4, y_of(i) + 15, SVG_START, title);
}

static void draw_bcast(struct chart *c, const char *label)
{
    const json_t *one;
    size_t i;

    c->rows = json_array_size(c->lines);
    if (c->rows > RECORD_ROWS)
        c->rows = RECORD_ROWS;
    json_array_foreach(c->lines, i, one)
    {
        c->seconds = fmax(c->seconds, record_number(one, "seconds", 0));
    }
    if (!(c->seconds > 0))
        c->seconds = 1;
    open_chart(c, label);
    draw_axis(c);
    json_array_foreach(c->lines, i, one)
    {
        if (i < c->rows)
            draw_node(c, i, one);
    }
    svg_close(c->out);
}

/* --- a task graph --------------------------------------------------------- */

struct core {
    const char *node;
    double core;
};

/* The row of a task's core, a new one if it has none; RECORD_ROWS: there is no
 * room. */
static size_t row_of(struct core core[], size_t *n, const json_t *one)
{
    struct core c = {record_text(one, "node"), record_number(one, "core", 0)};
    size_t i = 0;

    while (i < *n
           && (core[i].core < c.core || core[i].core > c.core
               || strcmp(core[i].node, c.node) != 0))
        i++;
    if (i == *n && i < RECORD_ROWS)
        core[(*n)++] = c;
    return i;
}

static void draw_span(const struct chart *c,
                      size_t row,
                      const json_t *one,
                      int is_real)
{
    double from = record_number(one, is_real ? "start" : "planned_start", 0);
    double to = record_number(one, is_real ? "finish" : "planned_finish", 0);
    char title[256];
    const struct svg_box box = {.x = x_of(c, from),
                                .y = y_of(row) + (is_real ? 6 : 1),
                                .width = fmax(x_of(c, to) - x_of(c, from), 0.5),
                                .height = is_real ? ROW - 7 : 5,
                                .fill = is_real ? REAL : PLANNED,
                                .stroke = EDGE,
                                .label =
                                    is_real && x_of(c, to) - x_of(c, from) > 16
                                        ? record_text(one, "name")
                                        : NULL,
                                .title = title};

    snprintf(title, sizeof title, "%.100s: %s %.3f s to %.3f s",
             record_text(one, "name"), is_real ? "ran" : "was planned", from,
             to);
    svg_box(c->out, &box);
}

static void draw_graph(struct chart *c, const char *label)
{
    struct core core[RECORD_ROWS] = {{0}};
    const json_t *one;
    char name[64];
    size_t i;

    json_array_foreach(c->lines, i, one)
    {
        (void)row_of(core, &c->rows, one);
        c->seconds = fmax(c->seconds, record_number(one, "finish", 0));
        c->seconds = fmax(c->seconds, record_number(one, "planned_finish", 0));
    }
    if (!(c->seconds > 0))
        c->seconds = 1;
    open_chart(c, label);
    draw_axis(c);
    for (i = 0; i < c->rows; i++) {
        snprintf(name, sizeof name, "%.12s %.0f", core[i].node, core[i].core);
        draw_name(c, i, name);
    }
    json_array_foreach(c->lines, i, one)
    {
        size_t row = row_of(core, &c->rows, one);

        if (row == RECORD_ROWS)
            continue;
        draw_span(c, row, one, 0);
        draw_span(c, row, one, 1);
    }
    svg_close(c->out);
}

void record_chart(FILE *out, const struct any_report *r, const char *label)
{
    struct chart c = {.out = out, .lines = r->record.lines};

    if (r->kind == REPORT_BCAST)
        draw_bcast(&c, label);
    else if (r->kind == REPORT_GRAPH)
        draw_graph(&c, label);
}
