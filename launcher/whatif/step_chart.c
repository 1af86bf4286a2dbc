/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/step_chart.h"
#include "launcher/base/markup.h"
#include "launcher/base/svg.h"
#include "launcher/whatif/step_show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- a bar each ----------------------------------------------------------- */

/* Pixels. */
#define WIDTH  880
#define LEFT   160
#define RIGHT  60
#define TITLE  34
#define ROW    20
#define AXIS   22
#define LEGEND 26
#define LETTER 7

#define USEFUL    "#8fb8da"
#define WAITING   "#eee"
#define EDGE      "#bbb"
#define WORST     "#d62728"
#define GRID      "#ddd"
#define TICKS_MIN 5

struct bars {
    FILE *out;
    const struct step_file *f;
    const struct step_row *row;
    size_t n, shown;
    int of_ranks;
    double most; /* seconds of the longest */
    double y;
};

static double ranks_of(const struct bars *b, const struct step_row *r)
{
    return b->of_ranks || r->rank < 1 ? 1 : r->rank;
}

/* Ranks where all of them have room, else nodes, a mean of ranks each. */
static struct bars bars_of(FILE *out, const struct step_file *f)
{
    struct bars b = {.out = out, .f = f};

    b.of_ranks = f->n_ranks > 0 && f->n_ranks <= STEP_ROWS;
    b.row = b.of_ranks ? f->rank : f->node;
    b.n = b.of_ranks ? f->n_ranks : f->n_nodes;
    b.shown = b.n < STEP_ROWS ? b.n : STEP_ROWS;
    for (size_t i = 0; i < b.shown; i++)
        b.most = fmax(b.most, (b.row[i].useful + b.row[i].waiting)
                                  / ranks_of(&b, &b.row[i]));
    if (b.most <= 0)
        b.most = 1;
    return b;
}

static double tick(double range)
{
    double power = pow(10, floor(log10(range / TICKS_MIN)));
    double most = range / TICKS_MIN / power;

    return power * (most >= 5 ? 5 : most >= 2 ? 2 : 1);
}

static void draw_axis(const struct bars *b, double height)
{
    double step = tick(b->most);
    char text[32];

    for (int i = 0; i * step <= b->most * 1.0001; i++) {
        double x = LEFT + i * step / b->most * WIDTH;

        svg_line(b->out, x, b->y, x, b->y + height, GRID);
        snprintf(text, sizeof text, "%g s", i * step);
        svg_text(b->out, x, b->y + height + 15, SVG_MIDDLE, text);
    }
}

static void draw_part(const struct bars *b,
                      double y,
                      double from,
                      double to,
                      const char *fill,
                      const char *title)
{
    const struct svg_box box = {.x = LEFT + from / b->most * WIDTH,
                                .y = y + 2,
                                .width = (to - from) / b->most * WIDTH,
                                .height = ROW - 4,
                                .fill = fill,
                                .stroke = EDGE,
                                .title = title};

    if (to > from)
        svg_box(b->out, &box);
}

static int is_worst(const struct bars *b, const struct step_row *r)
{
    return strcmp(r->node, b->f->worst.node) == 0
           && strcmp(b->f->worst.cause, "none") != 0
           && (!b->of_ranks || strcmp(b->f->worst.cause, "work of rank") != 0
               || r->rank == b->f->worst.rank);
}

static void draw_row(const struct bars *b, size_t i)
{
    const struct step_row *r = &b->row[i];
    double y = b->y + (double)i * ROW, ranks = ranks_of(b, r);
    double useful = r->useful / ranks, all = useful + r->waiting / ranks;
    char title[256], name[32], lost[STEP_SHORT];

    snprintf(title, sizeof title,
             "%.100s: useful %.3f s, waiting %.3f s, last in %.0f%s", r->node,
             useful, all - useful, r->last, step_show_lost(lost, r));
    if (b->of_ranks)
        snprintf(name, sizeof name, "%.18s, %.0f", r->node, r->rank);
    else
        snprintf(name, sizeof name, "%.22s", r->node);
    svg_text(b->out, LEFT - 6, y + 14, SVG_END, name);
    draw_part(b, y, 0, useful, USEFUL, title);
    draw_part(b, y, useful, all, WAITING, title);
    if (r->lost >= 0)
        svg_text(b->out, LEFT + all / b->most * WIDTH + 6, y + 14, SVG_START,
                 "lost");
    if (is_worst(b, r))
        svg_line(b->out, LEFT - 3, y + 2, LEFT - 3, y + ROW - 2, WORST);
}

static void draw_legend(const struct bars *b)
{
    static const struct {
        const char *fill, *name;
    } entries[] = {{USEFUL, "useful"}, {WAITING, "waiting"}};
    double x = LEFT;
    char text[160];

    for (size_t i = 0; i < 2; i++) {
        const struct svg_box box = {.x = x,
                                    .y = b->y + 6,
                                    .width = 12,
                                    .height = 12,
                                    .fill = entries[i].fill,
                                    .stroke = EDGE};

        svg_box(b->out, &box);
        svg_text(b->out, x + 18, b->y + 16, SVG_START, entries[i].name);
        x += 18 + (double)(strlen(entries[i].name) + 3) * LETTER;
    }
    if (strcmp(b->f->worst.cause, "none") == 0)
        return;
    svg_line(b->out, x + 6, b->y + 4, x + 6, b->y + 20, WORST);
    snprintf(text, sizeof text, "the others waited for it (%s)",
             b->f->worst.cause);
    svg_text(b->out, x + 14, b->y + 16, SVG_START, text);
}

static void draw_all(struct bars *b)
{
    double height = (double)b->shown * ROW;

    draw_axis(b, height);
    for (size_t i = 0; i < b->shown; i++)
        draw_row(b, i);
    b->y += height + AXIS;
    draw_legend(b);
    svg_close(b->out);
}

void step_chart(FILE *out, const struct step_file *f)
{
    struct bars b = bars_of(out, f);
    char text[240], threads[32] = "", iterations[STEP_ITERATIONS];

    step_show_iterations(iterations, f);
    if (f->threads > 0)
        snprintf(threads, sizeof threads, " x threads %.2f",
                 f->factor[STEP_THREADS].value);
    svg_open(out, LEFT + WIDTH + RIGHT,
             TITLE + (double)b.shown * ROW + AXIS + LEGEND
                 + (*iterations ? ROW : 0));
    snprintf(text, sizeof text,
             "Step %.0f.%.0f: time of each %s%s; parallel efficiency %.2f = "
             "load balance %.2f x %s %.2f%s",
             f->job, f->step, b.of_ranks ? "rank" : "node (mean of its ranks)",
             b.shown < b.n ? ", the first of them" : "",
             f->factor[STEP_PARALLEL].value, f->factor[STEP_BALANCE].value,
             step_show_busy(f), f->factor[STEP_COMMUNICATION].value, threads);
    svg_text(out, LEFT, TITLE - 14, SVG_START, text);
    b.y = TITLE;
    if (*iterations) {
        svg_text(out, LEFT, TITLE - 14 + ROW, SVG_START, iterations);
        b.y += ROW;
    }
    draw_all(&b);
}

void step_chart_part(FILE *out, const struct step_file *f, const char *label)
{
    struct bars b = bars_of(out, f);

    svg_open_part(out, LEFT + WIDTH + RIGHT,
                  (double)b.shown * ROW + AXIS + LEGEND, label);
    draw_all(&b);
}

/* --- over time ------------------------------------------------------------ */

/* Pixels: so few that it can be read on a small screen, too. */
#define STRIP_LEFT  100
#define STRIP_WIDTH 500
#define STRIP_RIGHT 12
#define STRIP_ROW   18
#define STRIP       14 /* height of one */
#define STRIP_NAME  14 /* letters that have room at the left */
#define STRIP_BELOW 64 /* axis and legend */

/* From below. */
enum kind { KIND_USEFUL, KIND_NO_CPU, KIND_IO, KIND_WAITING, KINDS };

static const struct {
    const char *name, *fill;
    size_t texture; /* for who does not see colours */
} kinds[KINDS] = {
    [KIND_USEFUL] = {"useful", USEFUL, 0},
    [KIND_NO_CPU] = {"work without a CPU", "#e4572e", 1},
    [KIND_IO] = {"I/O", "#f2b134", 4},
    [KIND_WAITING] = {"waiting", WAITING, 0},
};

struct strip {
    const struct step_row *row;
    double seconds; /* of a bin */
    size_t n;
    double part[STEP_BINS][KINDS]; /* of a bin; together at most 1 */
};

static double part_of(const json_t *bins, const char *key, size_t i)
{
    double v = json_number_value(json_array_get(json_object_get(bins, key), i));

    return v > 0 ? fmin(v, 1) : 0; /* a NaN, too, is 0 */
}

/* 0: it has none. */
static int read_strip(struct strip *s, const struct step_row *r)
{
    const json_t *bins = json_object_get(r->line, "bins");
    size_t n = json_array_size(json_object_get(bins, "useful"));

    *s = (struct strip){.row = r, .seconds = step_file_number(bins, "seconds")};
    if (!(s->seconds > 0) || n == 0)
        return 0;
    s->n = n < STEP_BINS ? n : STEP_BINS;
    for (size_t i = 0; i < s->n; i++) {
        double useful = part_of(bins, "useful", i);
        double idle = fmin(part_of(bins, "no_cpu", i), useful);
        double waiting = fmin(part_of(bins, "waiting", i), 1 - useful);
        double io = fmin(part_of(bins, "io", i), waiting);

        s->part[i][KIND_USEFUL] = useful - idle;
        s->part[i][KIND_NO_CPU] = idle;
        s->part[i][KIND_IO] = io;
        s->part[i][KIND_WAITING] = waiting - io;
    }
    return 1;
}

int step_strips_known(const struct step_file *f)
{
    struct strip s;

    for (size_t i = 0; i < f->n_ranks; i++)
        if (read_strip(&s, &f->rank[i]))
            return 1;
    return 0;
}

/* The outline of one kind: a box for each stretch of equal bins. */
static void draw_outline(
    FILE *out, const struct strip *s, enum kind kind, double y, double scale)
{
    for (size_t i = 0, end; i < s->n; i = end) {
        double below = 0, height = s->part[i][kind] * STRIP;

        for (int k = 0; k < (int)kind; k++)
            below += s->part[i][k] * STRIP;
        for (end = i + 1; end < s->n; end++)
            if (memcmp(s->part[i], s->part[end], sizeof s->part[i]) != 0)
                break;
        if (height >= 0.05)
            fprintf(out, "M%.1f %.1fH%.1fv-%.1fH%.1fz",
                    STRIP_LEFT + (double)i * s->seconds * scale,
                    y + STRIP - below,
                    STRIP_LEFT + (double)end * s->seconds * scale, height,
                    STRIP_LEFT + (double)i * s->seconds * scale);
    }
}

static void draw_strip(FILE *out, const struct strip *s, double y, double scale)
{
    const char *node = s->row->node;
    char name[STEP_NAME_LEN + 32], rank[24];
    size_t room;

    /* Of a long name the end, in which nodes differ. */
    snprintf(rank, sizeof rank, "%.0f", s->row->rank);
    room = strlen(rank) + 2 < STRIP_NAME ? STRIP_NAME - 2 - strlen(rank) : 1;
    if (strlen(node) > room)
        node += strlen(node) - room;
    snprintf(name, sizeof name, "%s, %s", node, rank);
    svg_text(out, STRIP_LEFT - 6, y + 11, SVG_END, name);
    fprintf(out, "<g><title>");
    markup_print(out, s->row->node);
    fprintf(out, ", rank %s: useful %.3f s, waiting %.3f s</title>", rank,
            s->row->useful, s->row->waiting);
    for (int k = 0; k < KINDS; k++) {
        fprintf(out, "<path fill=\"%s\" d=\"", kinds[k].fill);
        draw_outline(out, s, (enum kind)k, y, scale);
        fprintf(out, "\"/>");
        if (kinds[k].texture == 0)
            continue;
        fprintf(out, "<path fill=\"url(#t%zu)\" d=\"", kinds[k].texture);
        draw_outline(out, s, (enum kind)k, y, scale);
        fprintf(out, "\"/>");
    }
    fprintf(out, "</g>\n");
}

static void strip_legend(FILE *out, double y)
{
    double x = STRIP_LEFT;

    for (size_t k = 0; k < KINDS; k++) {
        const struct svg_box box = {.x = x,
                                    .y = y,
                                    .width = 12,
                                    .height = 12,
                                    .fill = kinds[k].fill,
                                    .stroke = EDGE};

        svg_box(out, &box);
        svg_texture(out, x, y, 12, 12, kinds[k].texture);
        svg_text(out, x + 18, y + 11, SVG_START, kinds[k].name);
        x += 18 + (double)(strlen(kinds[k].name) + 3) * LETTER;
    }
}

static void strip_axis(FILE *out, double most, double y)
{
    double step = tick(most);
    char text[32];

    for (int i = 0; i * step <= most * 1.0001; i++) {
        double x = STRIP_LEFT + i * step / most * STRIP_WIDTH;

        svg_line(out, x, y, x, y + 4, EDGE);
        snprintf(text, sizeof text, "%g s", i * step);
        svg_text(out, x, y + 16, SVG_MIDDLE, text);
    }
}

static int by_rank(const void *a, const void *b)
{
    const struct step_row *x = *(const struct step_row *const *)a,
                          *y = *(const struct step_row *const *)b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

void step_strips_part(FILE *out, const struct step_file *f, const char *label)
{
    const struct step_row *row[STEP_ROWS] = {NULL};
    size_t n = 0;
    double most = 0, y = 0;
    struct strip s;

    for (size_t i = 0; i < f->n_ranks && n < STEP_ROWS; i++)
        if (read_strip(&s, f->worst_first[i])) {
            most = fmax(most, (double)s.n * s.seconds);
            row[n++] = f->worst_first[i];
        }
    qsort(row, n, sizeof *row, by_rank);
    svg_open_part(out, STRIP_LEFT + STRIP_WIDTH + STRIP_RIGHT,
                  (double)n * STRIP_ROW + STRIP_BELOW, label);
    for (size_t i = 0; i < n; i++, y += STRIP_ROW)
        if (read_strip(&s, row[i]))
            draw_strip(out, &s, y, STRIP_WIDTH / most);
    strip_axis(out, most, y);
    strip_legend(out, y + 34);
    svg_close(out);
}
