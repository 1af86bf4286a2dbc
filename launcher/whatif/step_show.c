/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/step_show.h"
#include "launcher/base/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- tables --------------------------------------------------------------- */

/* "  lost after 12.3 s", of a node or rank that was. */
static const char *lost_text(char text[48], const struct step_row *r)
{
    *text = '\0';
    if (r->lost >= 0)
        snprintf(text, 48, "  lost after %.4g s", r->lost);
    return text;
}

static void print_nodes(FILE *out, const struct step_file *f)
{
    fprintf(out, "%-20s %6s %11s %11s %11s %9s %14s\n", "node", "ranks",
            "useful s", "waiting s", "efficiency", "last", "others waited");
    for (size_t i = 0; i < f->n_nodes; i++) {
        const struct step_row *r = &f->node[i];
        char lost[48];

        fprintf(out, "%-20.20s %6.0f %11.3f %11.3f %11.3f %9.0f %14.3f%s\n",
                r->node, r->rank, r->useful, r->waiting, r->parallel, r->last,
                r->node_seconds, lost_text(lost, r));
    }
}

static void print_ranks(FILE *out, const struct step_file *f)
{
    if (f->n_ranks == 0)
        return;
    fprintf(out, "\n%-20s %6s %11s %11s %11s %9s\n", "node", "rank", "useful s",
            "waiting s", "useful", "last");
    for (size_t i = 0; i < f->n_ranks; i++) {
        const struct step_row *r = &f->rank[i];
        double all = r->useful + r->waiting;
        char lost[48];

        fprintf(out, "%-20.20s %6.0f %11.3f %11.3f %10.1f%% %9.0f%s\n", r->node,
                r->rank, r->useful, r->waiting,
                all > 0 ? 100 * r->useful / all : 0, r->last,
                lost_text(lost, r));
    }
}

void step_show_iterations(char text[STEP_ITERATIONS], const struct step_file *f)
{
    *text = '\0';
    if (f->iterations.n > 0)
        snprintf(
            text, STEP_ITERATIONS,
            "%.0f iterations of %.0f region%s, median %.4g s, skew %.3g s, "
            "at most %.3g s",
            f->iterations.n, f->iterations.regions,
            f->iterations.regions > 1 ? "s" : "", f->iterations.seconds,
            f->iterations.skew, f->iterations.skew_most);
}

void step_show_energy(char text[STEP_ENERGY], const struct step_file *f)
{
    char saved[80] = "";

    *text = '\0';
    if (f->energy.has_saved)
        snprintf(saved, sizeof saved,
                 ", %.4g kJ %s than at the watts before limits were lowered",
                 fabs(f->energy.saved) / 1e3,
                 f->energy.saved < 0 ? "more" : "less");
    if (f->energy.source[0])
        snprintf(text, STEP_ENERGY, "%.4g kJ, %.4g W (%s)%s",
                 f->energy.joules / 1e3, f->energy.watts, f->energy.source,
                 saved);
}

int step_show_table(FILE *out, const struct step_file *f)
{
    char iterations[STEP_ITERATIONS], energy[STEP_ENERGY];

    step_show_iterations(iterations, f);
    step_show_energy(energy, f);
    print_nodes(out, f);
    print_ranks(out, f);
    fprintf(out,
            "\n%.0f regions in %.2f s, parallel efficiency %.3f = load balance "
            "%.3f x communication %.3f",
            f->regions, f->elapsed, f->parallel, f->balance, f->communication);
    if (f->threads > 0)
        fprintf(out, " x threads %.3f (%.0f of them)", f->thread_efficiency,
                f->threads);
    fprintf(out, "\n%s%s%s%s", iterations, *iterations ? "\n" : "", energy,
            *energy ? "\n" : "");
    fprintf(out, "most for %s: %.2f node-seconds; why: %s", f->worst.node,
            f->worst.node_seconds, f->worst.cause);
    if (strcmp(f->worst.cause, "work of rank") == 0)
        fprintf(out, " %.0f", f->worst.rank);
    fprintf(out, "\n");
    return ferror(out) ? -1 : 0;
}

int step_show_json(FILE *out, const struct step_file *f)
{
    char *text = json_dumps(f->json, JSON_COMPACT);
    int rc = text && fputs(text, out) != EOF && putc('\n', out) != EOF ? 0 : -1;

    free(text);
    return rc;
}

/* --- the picture ---------------------------------------------------------- */

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
    char title[256], name[32], lost[48];

    snprintf(title, sizeof title,
             "%.100s: useful %.3f s, waiting %.3f s, last in %.0f%s", r->node,
             useful, all - useful, r->last, lost_text(lost, r));
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

void step_show_chart(FILE *out, const struct step_file *f)
{
    struct bars b = bars_of(out, f);
    char text[240], threads[32] = "", iterations[STEP_ITERATIONS];

    step_show_iterations(iterations, f);
    if (f->threads > 0)
        snprintf(threads, sizeof threads, " x threads %.2f",
                 f->thread_efficiency);
    svg_open(out, LEFT + WIDTH + RIGHT,
             TITLE + (double)b.shown * ROW + AXIS + LEGEND
                 + (*iterations ? ROW : 0));
    snprintf(text, sizeof text,
             "Step %.0f.%.0f: time of each %s%s; parallel efficiency %.2f = "
             "load balance %.2f x communication %.2f%s",
             f->job, f->step, b.of_ranks ? "rank" : "node (mean of its ranks)",
             b.shown < b.n ? ", the first of them" : "", f->parallel,
             f->balance, f->communication, threads);
    svg_text(out, LEFT, TITLE - 14, SVG_START, text);
    b.y = TITLE;
    if (*iterations) {
        svg_text(out, LEFT, TITLE - 14 + ROW, SVG_START, iterations);
        b.y += ROW;
    }
    draw_all(&b);
}

void step_show_part(FILE *out, const struct step_file *f, const char *label)
{
    struct bars b = bars_of(out, f);

    svg_open_part(out, LEFT + WIDTH + RIGHT,
                  (double)b.shown * ROW + AXIS + LEGEND, label);
    draw_all(&b);
}
