/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/top_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAR 10 /* characters for a whole region */

/* --- order ---------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const struct top_node *x = a, *y = b;

    return strverscmp(x->name, y->name);
}

static int compare(double x, double y)
{
    return (x > y) - (x < y);
}

static int by_speed(const void *a, const void *b)
{
    const struct top_node *x = a, *y = b;

    return compare(x->speed, y->speed);
}

static int by_waiting(const void *a, const void *b)
{
    const struct top_node *x = a, *y = b;

    return compare(y->waiting, x->waiting);
}

static int by_limit(const void *a, const void *b)
{
    const struct top_node *x = a, *y = b;

    return compare(y->limit, x->limit);
}

/* Who has got least far makes the others wait, and waits least itself; who is
 * lost needs to be looked at before. */
static int by_lag(const void *a, const void *b)
{
    const struct top_node *x = a, *y = b;
    int order = (y->is_lost != 0) - (x->is_lost != 0);

    if (order == 0)
        order = compare(floor(x->progress), floor(y->progress));
    if (order == 0)
        order = compare(x->waiting, y->waiting);
    return order != 0 ? order : by_name(a, b);
}

void top_sort(struct top_step *step, enum top_order order)
{
    static int (*const orders[])(const void *, const void *) = {
        [TOP_BY_LAG] = by_lag,     [TOP_BY_NAME] = by_name,
        [TOP_BY_SPEED] = by_speed, [TOP_BY_WAITING] = by_waiting,
        [TOP_BY_LIMIT] = by_limit,
    };

    if (step->n > 0) /* none need be metered */
        qsort(step->node, step->n, sizeof *step->node, orders[order]);
}

/* --- lines ---------------------------------------------------------------- */

/* The time of a node's ranks, or of all that have some. */
static struct efficiency_sum sum_of(const struct top_ranks *r)
{
    return (struct efficiency_sum){.ranks = (uint32_t)r->n,
                                   .useful = r->useful,
                                   .waiting = r->waiting,
                                   .most = r->most,
                                   .elapsed = r->elapsed,
                                   .busy = r->busy,
                                   .room = r->room};
}

static size_t lost_of(const struct top_step *step)
{
    size_t lost = 0;

    for (size_t i = 0; i < step->n; i++)
        lost += step->node[i].is_lost != 0;
    return lost;
}

/* A node that was lost would look idle: it counts only if all are. */
static struct efficiency_sum sum_of_all(const struct top_step *step)
{
    int all_lost = lost_of(step) == step->n;
    struct efficiency_sum all = {0};

    for (size_t i = 0; i < step->n; i++) {
        struct efficiency_sum node = sum_of(&step->node[i].ranks);

        if (!step->node[i].is_lost || all_lost)
            efficiency_add_node(&all, &node);
    }
    return all;
}

/* ", 812 W, 12.4 kJ measured", of n nodes; "" if none of it is known. */
static void energy_text(char text[64], const struct top_node node[], size_t n)
{
    double joules = 0, watts = 0;
    const char *source = "";

    for (size_t i = 0; i < n; i++) {
        if (!node[i].energy[0] || !(node[i].seconds > 0))
            continue;
        joules += node[i].joules;
        watts += node[i].joules / node[i].seconds;
        if (strcmp(source, "modelled") != 0) /* if only one is, all is */
            source = node[i].energy;
    }
    text[0] = '\0';
    if (source[0])
        snprintf(text, 64, ", %.4g W, %.4g kJ %s", watts, joules / 1e3, source);
}

/* ", 1.2 kJ saved", which may be below 0; "" if it is not known. */
static void saved_text(char text[32], const struct top_step *step)
{
    text[0] = '\0';
    if (step->has_saved)
        snprintf(text, 32, ", %.3g kJ saved", step->saved / 1e3);
}

void top_step_line(char line[TOP_LINE], const struct top_step *step)
{
    const char *proxy = strcmp(step->meter, "cpu") == 0 ? " (a proxy)" : "";
    struct efficiency_sum all = sum_of_all(step);
    struct efficiency e = efficiency_of(&all);
    char parallel[80] = "", threads[32] = "", energy[64], saved[32];
    char lost[32] = "", what[TOP_WHAT_MAX + 1] = "";
    char elapsed[32] = "", skew[TOP_LINE] = "";

    if (step->kind == TOP_STEP && step->what[0]) /* others have a title */
        snprintf(what, sizeof what, " %s", step->what);
    if (step->seconds > 0)
        snprintf(elapsed, sizeof elapsed, ", %.0f s so far", step->seconds);
    if (all.ranks == 0)
        snprintf(skew, TOP_LINE, ", skew %.6f", step->skew);
    if (all.room > 0)
        snprintf(threads, sizeof threads, ", threads %.2f", e.threads);
    if (all.ranks > 0)
        snprintf(parallel, sizeof parallel,
                 ", efficiency %.2f (balance %.2f%s)", e.parallel, e.balance,
                 threads);
    energy_text(energy, step->node, step->n);
    saved_text(saved, step);
    if (lost_of(step) > 0)
        snprintf(lost, sizeof lost, " (%zu lost)", lost_of(step));
    snprintf(line, TOP_LINE,
             "step %" PRIu32 ".%" PRIu32 "%s: %zu nodes%s%s%s%s%s%s%s%s%s",
             step->job, step->step, what, step->n, lost, elapsed, skew,
             parallel, step->meter[0] ? ", metered by " : "", step->meter,
             proxy, energy, saved);
}

void top_group_line(char line[TOP_LINE],
                    const struct top_group *group,
                    size_t columns)
{
    static const struct {
        enum aggregate how;
        int digits;
    } told[] = {
        {AGGREGATE_MIN, 3},
        {AGGREGATE_MEAN, 3},
        {AGGREGATE_MEDIAN, 3},
    };
    char number[400];
    int n;

    if (group->n == 0) {
        snprintf(line, TOP_LINE, "all: no speed is known yet");
        return;
    }
    n = snprintf(line, TOP_LINE,
                 "%s%.40s: speed/s of %zu:", group->rack[0] ? "rack " : "all",
                 group->rack, group->n);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        int more = snprintf(number, sizeof number, " %s %.*f",
                            aggregate_name(told[i].how), told[i].digits,
                            group->speed[told[i].how]);

        if ((size_t)(n + more) > columns || n + more >= TOP_LINE)
            return;
        memcpy(line + n, number, (size_t)more + 1);
        n += more;
    }
}

const char *top_head(const struct top_step *step)
{
    return sum_of_all(step).ranks > 0
               ? "node            ranks useful waiting efficiency  last speed/s"
                 "  limit"
               : "node            region     speed/s  waiting    skew  share"
                 "  limit";
}

/* Draw how much of its region is done.  A whole number is the end of the region
 * before. */
static void draw_bar(char bar[BAR + 1], double progress)
{
    double part = progress - floor(progress);
    size_t full;

    if (part <= 0 && progress > 0)
        part = 1;
    full = (size_t)(part * BAR + 0.5);
    memset(bar, '.', BAR);
    memset(bar, '#', full < BAR ? full : BAR);
    bar[BAR] = '\0';
}

static double all_limits(const struct top_step *step)
{
    double all = 0;

    for (size_t i = 0; i < step->n; i++)
        all += step->node[i].limit;
    return all;
}

/* Of a node that was lost nobody knows what it is limited to now. */
static void limit_text(char text[48], const struct top_node *node)
{
    if (node->is_lost)
        snprintf(text, 48, "lost after %.*f s", node->lost < 99.95, node->lost);
    else if (strcmp(node->unit, "us/s") == 0)
        snprintf(text, 48, "%.1f%% CPU", node->limit / 1e4);
    else if (strcmp(node->unit, "uW") == 0)
        snprintf(text, 48, "%.1f W", node->limit / 1e6);
    else if (strcmp(node->unit, "kHz") == 0)
        snprintf(text, 48, "%.0f MHz", node->limit / 1e3);
    else
        snprintf(text, 48, "%s", node->unit[0] ? node->unit : "-");
}

static void rank_line(char line[TOP_LINE], const struct top_node *node)
{
    const struct top_ranks *r = &node->ranks;
    const struct efficiency_sum sum = sum_of(r);
    double all = r->useful + r->waiting;
    char limit[48], energy[64];

    limit_text(limit, node);
    energy_text(energy, node, 1);
    snprintf(line, TOP_LINE,
             "%-15.15s %5.0f %5.1f%% %6.1f%% %10.2f %5.0f %7.3f  %s%s",
             node->name, r->n, all > 0 ? 100 * r->useful / all : 0,
             100 * node->waiting, efficiency_of(&sum).parallel, r->last,
             node->speed, limit, energy);
}

void top_node_line(char line[TOP_LINE],
                   const struct top_step *step,
                   const struct top_node *node)
{
    double all = all_limits(step);
    char bar[BAR + 1], limit[48], share[16] = "-", energy[64];

    if (sum_of_all(step).ranks > 0) {
        rank_line(line, node);
        return;
    }
    energy_text(energy, node, 1);
    draw_bar(bar, node->progress);
    limit_text(limit, node);
    if (node->limit > 0)
        snprintf(share, sizeof share, "%.3f", node->limit / all);
    snprintf(line, TOP_LINE, "%-15.15s %s %7.3f %7.1f%% %7.4f %6s  %s%s",
             node->name, bar, node->speed, 100 * node->waiting, node->skew,
             share, limit, energy);
}
