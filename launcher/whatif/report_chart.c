/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Three charts of one width, below each other.  A node has the same colour in
 * the first two, so that its row in the first explains the second.  What is
 * start-up is hatched in the first and the last.
 */
#include "launcher/whatif/report_chart.h"
#include "launcher/base/svg.h"
#include "launcher/whatif/report_lanes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Pixels. */
#define WIDTH   880 /* of the charts */
#define PART    560 /* likewise, in a page */
#define LEFT    120 /* for names and numbers */
#define RIGHT   20
#define TITLE   34 /* above a chart */
#define AXIS    22 /* below a chart */
#define NUMBERS 14 /* of frames, above the first */
#define LANE    17 /* of frames side by side, likewise */
#define FOOT    3 /* of what is of a frame with an even number, beside others */
#define ROW     20 /* of a node */
#define SHARES  160
#define EVEN    100
#define LEGEND  22 /* below the last chart */
#define LETTER  7  /* a little wider than a digit of the font */

#define GRID      "#ddd"
#define FAILED    "#d62728"
#define OTHERS    "#bbb"
#define HATCH     "#555"
#define IDEAL     "#8fb8da"
#define ODD       "#666"
#define TICKS_MIN 5 /* of an axis; it has up to 2.5 times as many */

/* Ten colours that can be told apart: category10 of D3, lightened. */
static const char *const colour[] = {"#8fb8da", "#ffb97a", "#95cf95", "#e99393",
                                     "#c5aedd", "#c5aaa4", "#f0b9df", "#bdbdbd",
                                     "#dcdc87", "#86dce5"};

struct chart {
    FILE *out;
    const struct report_file *f;
    size_t begin, end;                /* frames */
    size_t rows;                      /* nodes that have a row of their own */
    size_t lanes;                     /* of frames; 1: they follow each other */
    unsigned char lane[CHART_FRAMES]; /* one a frame from begin on */
    double y;                         /* of the chart that is drawn */
    double width;
    double seconds; /* that it shows */
    int is_part;    /* in a page, which says what it is, and has textures */
};

static const char *colour_of(size_t node)
{
    return node < CHART_NODES ? colour[node % (sizeof colour / sizeof *colour)]
                              : OTHERS;
}

/* Nodes whose colours are alike differ in it. */
static size_t texture_of(size_t node)
{
    return node < CHART_NODES ? node % SVG_TEXTURES : 0;
}

static void title(struct chart *c, const char *text)
{
    if (c->is_part)
        return;
    svg_text(c->out, LEFT, c->y + TITLE - 14, SVG_START, text);
    c->y += TITLE;
}

/* --- who worked when ------------------------------------------------------ */

static double start_of(const struct chart *c)
{
    return c->f->frame[c->begin].start;
}

static double seconds_of(const struct chart *c)
{
    double end = 0;

    for (size_t i = c->begin; i < c->end; i++)
        end = fmax(end, c->f->frame[i].start + c->f->frame[i].span);
    return end > start_of(c) ? end - start_of(c) : 1;
}

static double x_of(const struct chart *c, double seconds)
{
    return LEFT + (seconds - start_of(c)) / c->seconds * c->width;
}

/* The distance of ticks: 1, 2 or 5 times a power of ten, so that there are at
 * least TICKS_MIN. */
static double tick(double range)
{
    double power = pow(10, floor(log10(range / TICKS_MIN)));
    double most = range / TICKS_MIN / power;

    return power * (most >= 5 ? 5 : most >= 2 ? 2 : 1);
}

static void draw_time(struct chart *c, double height)
{
    double step = tick(c->seconds), from = start_of(c);
    char text[32];

    for (double at = ceil(from / step) * step; at <= from + c->seconds * 1.0001;
         at += step) {
        svg_line(c->out, x_of(c, at), c->y, x_of(c, at), c->y + height, GRID);
        snprintf(text, sizeof text, "%g s", at);
        svg_text(c->out, x_of(c, at), c->y + height + 15, SVG_MIDDLE, text);
    }
}

/* Beside other frames, what is of an odd one has a dark foot. */
static void draw_foot(struct chart *c,
                      const struct report_frame *frame,
                      const struct svg_box *of)
{
    const struct svg_box foot = {.x = of->x,
                                 .y = of->y + of->height - FOOT,
                                 .width = of->width,
                                 .height = FOOT,
                                 .fill = ODD};

    if (c->lanes > 1 && frame->number % 2 != 0)
        svg_box(c->out, &foot);
}

static void draw_slice(struct chart *c,
                       const struct report_frame *frame,
                       const struct report_slice *s)
{
    char title_text[256], label[48];
    double startup, width = s->seconds / c->seconds * c->width;
    struct svg_box box = {.x = x_of(c, frame->start + s->start),
                          .y = c->y + (double)s->node * ROW + 2,
                          .width = width > 0.5 ? width : 0.5,
                          .height = ROW - 4,
                          .fill = s->done ? colour_of(s->node) : "#fff",
                          .stroke = s->done ? "#fff" : FAILED,
                          .title = title_text};

    snprintf(title_text, sizeof title_text,
             "frame %" PRId64 ", units %" PRId64 ":%" PRId64
             ", %.3f s, start-up %.3f s%s",
             frame->number + 1, s->begin, s->begin + s->units, s->seconds,
             s->startup, s->done ? "" : ", failed");
    if (c->lanes > 1)
        snprintf(label, sizeof label, "%" PRId64 " (%" PRId64 ")", s->units,
                 frame->number + 1);
    else
        snprintf(label, sizeof label, "%" PRId64, s->units);
    if ((double)(strlen(label) * LETTER + 4) <= width)
        box.label = label;
    svg_box(c->out, &box);
    draw_foot(c, frame, &box);
    startup = s->startup / c->seconds * c->width;
    if (startup >= 1)
        svg_hatch(c->out, box.x, box.y, fmin(startup, box.width), box.height,
                  HATCH);
}

/* Where each begins. */
static void draw_frame_edges(struct chart *c, double height)
{
    double free_from = LEFT;
    char text[24];

    for (size_t i = c->begin; i < c->end; i++) {
        const struct report_frame *frame = &c->f->frame[i];
        double x = x_of(c, frame->start);

        svg_line(c->out, x, c->y, x, c->y + height, "#888");
        snprintf(text, sizeof text, "%" PRId64, frame->number + 1);
        if (x < free_from)
            continue;
        svg_text(c->out, x + 2, c->y - 3, SVG_START, text);
        free_from = x + (double)(strlen(text) + 1) * LETTER;
    }
}

/* From its begin to its end, above the rows. */
static void draw_lane(struct chart *c, size_t i)
{
    const struct report_frame *frame = &c->f->frame[i];
    size_t above = c->lanes - c->lane[i - c->begin];
    char text[24], title_text[96];
    double width = frame->last / c->seconds * c->width;
    struct svg_box box = {.x = x_of(c, frame->start),
                          .y = c->y - (double)above * LANE,
                          .width = fmax(width, 0.5),
                          .height = LANE - 1,
                          .fill = "#eee",
                          .stroke = "#aaa",
                          .title = title_text};

    snprintf(text, sizeof text, "%" PRId64, frame->number + 1);
    snprintf(title_text, sizeof title_text,
             "frame %" PRId64 ", from %.3f s to %.3f s", frame->number + 1,
             frame->start, frame->start + frame->last);
    if ((double)(strlen(text) * LETTER + 4) <= width)
        box.label = text;
    svg_box(c->out, &box);
    draw_foot(c, frame, &box);
}

static void draw_frames(struct chart *c, double height)
{
    if (c->lanes == 1)
        draw_frame_edges(c, height);
    for (size_t i = c->begin; i < c->end && c->lanes > 1; i++)
        draw_lane(c, i);
}

static double above_rows(const struct chart *c)
{
    return c->lanes > 1 ? (double)c->lanes * LANE : NUMBERS;
}

static void draw_work(struct chart *c)
{
    double height = (double)c->rows * ROW;
    char text[64];

    title(c, report_chart_work(c->f));
    c->y += above_rows(c);
    draw_time(c, height);
    for (size_t i = 0; i < c->rows; i++)
        svg_text(c->out, LEFT - 6, c->y + (double)i * ROW + 14, SVG_END,
                 report_file_node(c->f, i));
    for (size_t i = c->begin; i < c->end; i++)
        for (size_t k = 0; k < c->f->frame[i].n; k++) {
            const struct report_frame *frame = &c->f->frame[i];
            const struct report_slice *s = &c->f->slice[frame->slice + k];

            if (s->node < c->rows)
                draw_slice(c, frame, s);
        }
    draw_frames(c, height);
    c->y += height + AXIS;
    if (c->rows < c->f->nodes) {
        snprintf(text, sizeof text, "and %zu more nodes",
                 c->f->nodes - c->rows);
        svg_text(c->out, LEFT, c->y + 12, SVG_START, text);
        c->y += ROW;
    }
}

/* --- by frame ------------------------------------------------------------- */

static double frame_x(const struct chart *c, double i)
{
    return LEFT + i / (double)(c->end - c->begin) * c->width;
}

/* Lines at 0, half and all of a chart whose height is `all`. */
static void draw_scale(struct chart *c, double height, const char *all[3])
{
    for (int i = 0; i < 3; i++) {
        double y = c->y + height - height * i / 2;

        svg_line(c->out, LEFT, y, LEFT + c->width, y, GRID);
        svg_text(c->out, LEFT - 6, y + 4, SVG_END, all[i]);
    }
}

static void draw_frame_numbers(struct chart *c, double height)
{
    double free_from = 0;
    char text[24];

    for (size_t i = c->begin; i < c->end; i++) {
        double x = frame_x(c, (double)(i - c->begin) + 0.5);

        if (x < free_from)
            continue;
        snprintf(text, sizeof text, "%" PRId64, c->f->frame[i].number + 1);
        svg_text(c->out, x, c->y + height + 15, SVG_MIDDLE, text);
        free_from = x + (double)(strlen(text) + 2) * LETTER;
    }
    c->y += height + AXIS;
}

/* Are the boxes wide enough to have an outline? */
static int is_roomy(const struct chart *c)
{
    return c->end - c->begin <= CHART_FRAMES / 4 && c->rows <= CHART_NODES / 4;
}

/* The share of a node in a frame: a box on top of those of the nodes before. */
static void draw_share(struct chart *c,
                       size_t i,
                       const char *name,
                       size_t node,
                       double from,
                       double to)
{
    char text[256];
    double left = frame_x(c, (double)(i - c->begin));
    const struct svg_box box = {.x = left,
                                .y = c->y + SHARES * (1 - to),
                                .width = frame_x(c, (double)(i - c->begin) + 1)
                                         - left,
                                .height = SHARES * (to - from),
                                .fill = colour_of(node),
                                .stroke = is_roomy(c) ? "#fff" : NULL,
                                .title = text};

    snprintf(text, sizeof text, "frame %" PRId64 ", %.100s: %.1f%%",
             c->f->frame[i].number + 1, name, 100 * (to - from));
    if (to <= from)
        return;
    svg_box(c->out, &box);
    if (c->is_part)
        svg_texture(c->out, box.x, box.y, box.width, box.height,
                    texture_of(node));
}

static void draw_frame_shares(struct chart *c, size_t i)
{
    const struct report_frame *frame = &c->f->frame[i];
    double units[CHART_NODES + 1] = {0}, from = 0, all = (double)frame->units;

    for (size_t k = 0; k < frame->n; k++) {
        const struct report_slice *s = &c->f->slice[frame->slice + k];

        if (s->done)
            units[s->node < c->rows ? s->node : c->rows] += (double)s->units;
    }
    for (size_t node = 0; node <= c->rows && all > 0; node++) {
        double to = from + units[node] / all;

        draw_share(c, i,
                   node < c->rows ? report_file_node(c->f, node) : "others",
                   node < c->rows ? node : CHART_NODES, from, to);
        from = to;
    }
}

static void draw_shares(struct chart *c)
{
    static const char *scale[] = {"0", "50%", "100%"};

    title(c, "Shares of each frame's units");
    draw_scale(c, SHARES, scale);
    for (size_t i = c->begin; i < c->end; i++)
        draw_frame_shares(c, i);
    draw_frame_numbers(c, SHARES);
}

/* Ideal, and then what the rest went to: the colours of the last chart. */
static const char *const rest_colour[] = {
    [ACCOUNT_RESTARTS] = "#fff",  [ACCOUNT_WAITING] = "#eee",
    [ACCOUNT_TWICE] = "#e99393",  [ACCOUNT_WIRE] = "#c5aedd",
    [ACCOUNT_SLOWER] = "#ffb97a",
};

/* Restarts are hatched in any case. */
static const size_t rest_texture[] = {
    [ACCOUNT_RESTARTS] = 0, [ACCOUNT_WAITING] = 0, [ACCOUNT_TWICE] = 2,
    [ACCOUNT_WIRE] = 4,     [ACCOUNT_SLOWER] = 3,
};

/* A part of a frame's time, on top of those before. */
static void draw_part(struct chart *c,
                      size_t i,
                      const char *name,
                      const char *fill,
                      size_t texture,
                      double from,
                      double part)
{
    const struct report_frame *frame = &c->f->frame[i];
    double x = frame_x(c, (double)(i - c->begin));
    double width = frame_x(c, (double)(i - c->begin) + 1) - x;
    char text[128];
    const struct svg_box box = {.x = x,
                                .y = c->y + EVEN * (1 - from - part),
                                .width = width,
                                .height = EVEN * part,
                                .fill = fill,
                                .stroke = is_roomy(c) ? "#fff" : NULL,
                                .title = text};

    snprintf(text, sizeof text, "frame %" PRId64 ", %s: %.3f s, %.1f%%",
             frame->number + 1, name, part * frame->account.time, 100 * part);
    if (part <= 0)
        return;
    svg_box(c->out, &box);
    if (c->is_part)
        svg_texture(c->out, x, box.y, width, box.height, texture);
}

static void draw_account(struct chart *c, size_t i)
{
    const struct account_result *a = &c->f->frame[i].account;
    double from = fmax(account_efficiency(a), 0), x, width;

    draw_part(c, i, "ideal", IDEAL, 0, 0, from);
    for (enum account_part k = 0; k < ACCOUNT_PARTS && a->time > 0; k++) {
        double part = fmin(a->part[k] / a->time, 1 - from);

        draw_part(c, i, account_name(k), rest_colour[k], rest_texture[k], from,
                  part);
        x = frame_x(c, (double)(i - c->begin));
        width = frame_x(c, (double)(i - c->begin) + 1) - x;
        if (k == ACCOUNT_RESTARTS && part > 0)
            svg_hatch(c->out, x, c->y + EVEN * (1 - from - part), width,
                      EVEN * part, HATCH);
        from += part;
    }
}

/* Names beside small boxes, below the chart. */
static void draw_legend(struct chart *c)
{
    double x = LEFT;

    for (int k = -1; k < ACCOUNT_PARTS; k++) {
        const char *name = k < 0 ? "ideal" : account_name((enum account_part)k);
        const struct svg_box box = {.x = x,
                                    .y = c->y + 2,
                                    .width = 12,
                                    .height = 12,
                                    .fill = k < 0 ? IDEAL : rest_colour[k],
                                    .stroke = HATCH};

        svg_box(c->out, &box);
        if (k == ACCOUNT_RESTARTS)
            svg_hatch(c->out, x, c->y + 2, 12, 12, HATCH);
        if (c->is_part && k >= 0)
            svg_texture(c->out, x, c->y + 2, 12, 12, rest_texture[k]);
        svg_text(c->out, x + 18, c->y + 12, SVG_START, name);
        x += 18 + (double)(strlen(name) + 3) * LETTER;
    }
    c->y += LEGEND;
}

static void draw_efficiency(struct chart *c)
{
    static const char *scale[] = {"0", "0.5", "1"};

    title(c, "Efficiency of each frame: ideal over time, and what the rest "
             "went to; a mark where the loads were adjusted after it");
    draw_scale(c, EVEN, scale);
    for (size_t i = c->begin; i < c->end; i++) {
        double x = frame_x(c, (double)(i - c->begin) + 0.5);

        draw_account(c, i);
        if (c->f->frame[i].adjusted)
            svg_line(c->out, x, c->y + EVEN - 5, x, c->y + EVEN + 3, "#555");
    }
    draw_frame_numbers(c, EVEN);
    draw_legend(c);
}

/* The run, as the frames' charts have no room for what may be several times as
 * long. */
static void draw_run(struct chart *c)
{
    const struct account_result *a = &c->f->account;
    char text[160];

    snprintf(text, sizeof text,
             "The run took %.2f s; ideal %.2f s; in equal parts %.2f s, %.2f "
             "times as long",
             a->time, a->ideal, a->equal, a->equal / a->time);
    if (a->time > 0 && a->equal > 0)
        svg_text(c->out, LEFT, c->y + LEGEND - 8, SVG_START, text);
    c->y += LEGEND;
}

/* How high the chart is that says who worked when. */
static double set_up(struct chart *c)
{
    c->rows = c->f->nodes;
    if (c->rows > CHART_NODES)
        c->rows = CHART_NODES;
    c->seconds = seconds_of(c);
    c->lanes = report_lanes(c->f, c->begin, c->end, c->lane);
    return above_rows(c) + (double)c->rows * ROW
           + (c->rows < c->f->nodes ? ROW : 0);
}

void report_chart_draw(FILE *out,
                       const struct report_file *f,
                       size_t begin,
                       size_t end)
{
    struct chart c = {
        .out = out, .f = f, .begin = begin, .end = end, .width = WIDTH};
    double work = set_up(&c);

    svg_open(out, LEFT + WIDTH + RIGHT,
             3 * (TITLE + AXIS) + work + SHARES + EVEN + 2 * LEGEND);
    draw_work(&c);
    draw_shares(&c);
    draw_efficiency(&c);
    draw_run(&c);
    svg_close(out);
}

const char *report_chart_work(const struct report_file *f)
{
    return report_overlaps(f)
               ? "Who worked when: units of each slice (and its frame); "
                 "frames above, even ones with a dark foot; start-ups are hatched"
               : "Who worked when: units of each slice, frames above; "
                 "start-ups are hatched";
}

/* --- in a page ------------------------------------------------------------ */

void report_chart_part(FILE *out,
                       const struct report_file *f,
                       size_t begin,
                       size_t end,
                       enum chart_part part,
                       const char *label)
{
    struct chart c = {.out = out,
                      .f = f,
                      .begin = begin,
                      .end = end,
                      .width = PART,
                      .is_part = 1};
    double work = set_up(&c);
    const struct {
        void (*draw)(struct chart *c);
        double height;
    } parts[] = {
        [CHART_WORK] = {draw_work, work + AXIS},
        [CHART_SHARES] = {draw_shares, NUMBERS + SHARES + AXIS},
        [CHART_REST] = {draw_efficiency, NUMBERS + EVEN + AXIS + LEGEND},
    };

    svg_open_part(out, LEFT + PART + RIGHT, parts[part].height, label);
    if (part != CHART_WORK)
        c.y = NUMBERS; /* room for the scale's topmost number */
    parts[part].draw(&c);
    svg_close(out);
}

void report_chart_key(FILE *out, size_t node)
{
    const struct svg_box box = {
        .width = 14, .height = 14, .fill = colour_of(node), .stroke = HATCH};

    svg_open_part(out, 14, 14, "");
    svg_box(out, &box);
    svg_texture(out, 0, 0, 14, 14, texture_of(node));
    svg_close(out);
}
