/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/top_parts.h"
#include "launcher/run/progress_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAR_MOST   20
#define BAR_LEAST  10 /* of a node, too */
#define NAME_LEAST 15
#define NAME_MOST  40

/* --- order ---------------------------------------------------------------- */

static int compare(double x, double y)
{
    return (x > y) - (x < y);
}

static int by_name(const void *a, const void *b)
{
    const struct top_part *x = a, *y = b;

    return strverscmp(x->name, y->name);
}

/* Who needs to be looked at first. */
static int rank_of(const struct top_part *p)
{
    static const int rank[TOP_STATES] = {
        [TOP_LOST] = 0,    [TOP_BAD] = 1,  [TOP_WORKING] = 2,
        [TOP_LEAVING] = 2, [TOP_IDLE] = 3, [TOP_DONE] = 4,
    };

    return rank[p->state];
}

static double share_of(const struct top_part *p)
{
    return p->part > 0 ? fmin(p->done / p->part, 1) : 0;
}

/* Of which it is not known may never be done. */
static double left_of(const struct top_part *p)
{
    return p->left < 0 ? INFINITY : p->left;
}

static int by_lag(const void *a, const void *b)
{
    const struct top_part *x = a, *y = b;
    int order = rank_of(x) - rank_of(y);

    if (order == 0)
        order = compare(left_of(y), left_of(x));
    if (order == 0)
        order = compare(share_of(x), share_of(y));
    return order != 0 ? order : by_name(a, b);
}

static int by_speed(const void *a, const void *b)
{
    const struct top_part *x = a, *y = b;
    int order = compare(x->rate, y->rate);

    return order != 0 ? order : by_name(a, b);
}

/* Those have to wait for the others that have the least left. */
static int by_waiting(const void *a, const void *b)
{
    return by_lag(b, a);
}

void top_parts_sort(struct top_step *step, enum top_order order)
{
    static int (*const orders[])(const void *, const void *) = {
        [TOP_BY_LAG] = by_lag,     [TOP_BY_NAME] = by_name,
        [TOP_BY_SPEED] = by_speed, [TOP_BY_WAITING] = by_waiting,
        [TOP_BY_LIMIT] = by_lag,
    };

    if (step->parts > 0)
        qsort(step->part, step->parts, sizeof *step->part, orders[order]);
}

/* --- numbers -------------------------------------------------------------- */

static const char *unit_of(const struct top_step *step)
{
    static const char *const unit[TOP_KINDS] = {[TOP_STEP] = "",
                                                [TOP_RUN] = "units",
                                                [TOP_BCAST] = "bytes",
                                                [TOP_GRAPH] = "tasks"};

    return step->progress.are_tasks ? "tasks" : unit[step->kind];
}

/* Three digits of bytes: 12.3 MB; or all digits of anything else that a person
 * counts. */
static void amount(char *text,
                   size_t size,
                   const struct top_step *step,
                   double v)
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    size_t i = 0;

    if (step->kind != TOP_BCAST) {
        snprintf(text, size, v < 1e7 ? "%.0f" : "%.3g", v);
        return;
    }
    for (; v >= 999.5 && i < sizeof unit / sizeof *unit - 1; i++)
        v /= 1000;
    snprintf(text, size, "%.*f %s", i == 0 || v >= 99.95 ? 0 : 1, v, unit[i]);
}

/* "-" where it is not known. */
static void rate_text(char *text,
                      size_t size,
                      const struct top_step *step,
                      double rate)
{
    if (rate < 0)
        snprintf(text, size, "-");
    else if (step->kind == TOP_BCAST)
        amount(text, size, step, rate);
    else
        progress_text_rate(text, size, rate, "");
}

static void left_text(char *text, size_t size, double left)
{
    if (left < 0)
        snprintf(text, size, "-");
    else
        progress_text_time(text, size, left);
}

/* What is done, and with it what probably is, as parts of the whole. */
static void bar_text(char bar[BAR_MOST + 1],
                     size_t cells,
                     double done,
                     double probable)
{
    size_t full = (size_t)(fmin(done, 1) * (double)cells);
    size_t more = (size_t)(fmin(probable, 1) * (double)cells);

    memset(bar, '.', cells);
    memset(bar, '+', more);
    memset(bar, '#', full);
    bar[cells] = '\0';
}

/* --- of all of it --------------------------------------------------------- */

static double share_of_all(const struct top_progress *p)
{
    return p->all > 0 ? fmin(p->done / p->all, 1) : 0;
}

/* "run 12.1", or "run (pid 4711)" outside Slurm, and its command. */
static void top_title(char text[TOP_LINE], const struct top_step *step)
{
    char number[48];

    if (step->job > 0)
        snprintf(number, sizeof number, "%" PRIu32 ".%" PRIu32, step->job,
                 step->step);
    else
        snprintf(number, sizeof number, "(pid %" PRIu32 ")", step->pid);
    snprintf(text, TOP_LINE, "%s %s%s%s", top_kind_name(step->kind), number,
             step->what[0] ? " " : "", step->what);
}

/* Append to a line. */
__attribute__((format(printf, 2, 3))) static void add(char line[TOP_LINE],
                                                      const char *format,
                                                      ...)
{
    size_t n = strlen(line);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line + n, TOP_LINE - n, format, args); /* cut */
    va_end(args);
}

void top_title_line(char line[TOP_LINE], const struct top_step *step)
{
    const struct top_progress *p = &step->progress;
    char time[32];

    top_title(line, step);
    add(line, ": %zu node%s", step->parts, step->parts == 1 ? "" : "s");
    progress_text_time(time, sizeof time, p->elapsed);
    add(line, ", %s so far", time);
    if (p->planned >= 0) {
        progress_text_time(time, sizeof time, p->planned);
        add(line, " of %s planned", time);
    }
    if (p->gain >= 0)
        add(line, ", gain %.2f", p->gain);
    if (p->efficiency >= 0)
        add(line, ", efficiency %.2f", p->efficiency);
    if (p->energy[0])
        add(line, ", %.4g W, %.4g kJ %s", p->watts, p->joules / 1e3, p->energy);
}

static void run_bar(char line[TOP_LINE],
                    const struct top_progress *p,
                    size_t columns)
{
    const struct tally_now now = {.frame = (uint64_t)p->frame,
                                  .frames = (uint64_t)p->frames,
                                  .done = (uint64_t)p->done,
                                  .all = (uint64_t)p->all,
                                  .rate = p->rate,
                                  .left = p->left,
                                  .are_tasks = p->are_tasks,
                                  .is_open = p->is_open,
                                  .failed = (uint64_t)fmax(p->failed, 0)};
    char text[PROGRESS_TEXT];

    progress_text_bar(text, columns, &now, -1);
    snprintf(line, TOP_LINE, "%.*s", TOP_LINE - 1, text);
}

void top_bar_line(char line[TOP_LINE],
                  const struct top_step *step,
                  size_t columns)
{
    const struct top_progress *p = &step->progress;
    char bar[BAR_MOST + 1], done[32], all[32], text[32];

    if (step->kind == TOP_RUN) {
        run_bar(line, p, columns);
        return;
    }
    bar_text(bar, BAR_MOST, share_of_all(p), 0);
    amount(done, sizeof done, step, p->done);
    amount(all, sizeof all, step, p->all);
    snprintf(line, TOP_LINE, "[%s] %s of %s%s", bar, done, all,
             step->kind == TOP_BCAST ? "" : " tasks");
    if (p->rate > 0) {
        rate_text(text, sizeof text, step, p->rate);
        add(line, ", %s/s", text);
    }
    if (p->left >= 0) {
        progress_text_time(text, sizeof text, p->left);
        add(line, ", %s left", text);
    }
    if (strlen(line) > columns)
        line[columns] = '\0';
}

/* How many are known. */
static size_t rates_of(double rate[], const struct top_step *step)
{
    size_t n = 0;

    for (size_t i = 0; i < step->parts; i++)
        if (step->part[i].rate > 0)
            rate[n++] = step->part[i].rate;
    return n;
}

static void add_rates(char line[TOP_LINE], const struct top_step *step)
{
    static const enum aggregate how[] = {AGGREGATE_MIN, AGGREGATE_MEDIAN,
                                         AGGREGATE_MEAN};
    double *rate = calloc(step->parts + 1, sizeof *rate);
    size_t n = rate ? rates_of(rate, step) : 0;
    char text[32];

    for (size_t i = 0; n > 0 && i < sizeof how / sizeof *how; i++) {
        rate_text(text, sizeof text, step, aggregate_of(how[i], rate, n));
        if (i == 0)
            add(line, "; %s/s:", unit_of(step));
        add(line, "%s %s %s", i > 0 ? "," : "", aggregate_name(how[i]), text);
    }
    free(rate);
}

/* "; idle: 1: it was lost, 2: its load is 0" */
static void add_reasons(char line[TOP_LINE],
                        const struct top_step *step,
                        size_t idle)
{
    size_t count[IDLE_REASONS] = {0}, told = 0;

    for (size_t i = 0; i < step->parts; i++)
        count[step->part[i].why]++;
    for (int why = IDLE_NOT + 1; why < IDLE_REASONS; why++) {
        if (count[why] == 0)
            continue;
        add(line, "%s", told++ > 0 ? ", " : "; idle: ");
        if (count[why] < idle)
            add(line, "%zu: ", count[why]);
        add(line, "%s", idle_text((enum idle_reason)why));
    }
}

void top_sum_line(char line[TOP_LINE], const struct top_step *step)
{
    size_t count[TOP_STATES] = {0}, told = 0;

    for (size_t i = 0; i < step->parts; i++)
        count[step->part[i].state]++;
    line[0] = '\0';
    for (enum top_state s = 0; s < TOP_STATES; s++)
        if (count[s] > 0)
            add(line, "%s%zu %s", told++ > 0 ? ", " : "", count[s],
                top_state_name(s));
    add_rates(line, step);
    add_reasons(line, step, count[TOP_IDLE]);
}

void top_longest_line(char line[TOP_LINE],
                      const struct top_step *step,
                      size_t columns)
{
    const struct top_longest *l = &step->progress.longest;
    char time[32];

    line[0] = '\0';
    if (!l->task[0])
        return;
    progress_text_time(time, sizeof time, l->seconds);
    add(line, "longest: %s on %s: %s", time, l->node, l->task);
    if (strlen(line) > columns)
        line[columns] = '\0';
}

void top_list_line(char line[TOP_LINE], const struct top_step *step)
{
    char title[TOP_LINE], left[32] = "";

    top_title(title, step);
    if (step->kind == TOP_STEP) {
        snprintf(line, TOP_LINE, "%-38.38s %6s  %zu nodes", title, "", step->n);
        return;
    }
    if (step->progress.left >= 0)
        progress_text_time(left, sizeof left, step->progress.left);
    snprintf(line, TOP_LINE, "%-38.38s %5.1f%%  %zu nodes%s%s%s", title,
             100 * share_of_all(&step->progress), step->parts,
             left[0] ? ", " : "", left, left[0] ? " left" : "");
}

/* --- a node --------------------------------------------------------------- */

static int name_width(size_t columns)
{
    size_t more = columns > TOP_COLUMNS ? columns - TOP_COLUMNS : 0;
    size_t most = NAME_MOST - NAME_LEAST;

    return (int)(NAME_LEAST + (more < most ? more : most));
}

/* No blanks at the end, of columns that a kind does not have. */
static void trim(char line[TOP_LINE])
{
    size_t n = strlen(line);

    while (n > 0 && line[n - 1] == ' ')
        line[--n] = '\0';
}

#define PART_LINE "%-*.*s %-7s %-10s %15s %8s %7s %5s %6s"

void top_part_head(char line[TOP_LINE],
                   const struct top_step *step,
                   size_t columns)
{
    static const struct {
        const char *part, *rate, *at, *more;
    } head[TOP_KINDS] = {
        [TOP_STEP] = {"", "", "", ""},
        [TOP_RUN] = {"slice", "units/s", "at", "in all"},
        [TOP_BCAST] = {"has", "bytes/s", "share", ""},
        [TOP_GRAPH] = {"tasks", "tasks/s", "at", "to do"},
    };
    int width = name_width(columns);
    const char *rate =
        step->progress.are_tasks ? "tasks/s" : head[step->kind].rate;

    snprintf(line, TOP_LINE, PART_LINE, width, width, "node", "state", "",
             head[step->kind].part, rate, "left", head[step->kind].at,
             head[step->kind].more);
    trim(line);
}

static void part_text(char text[80],
                      const struct top_step *step,
                      const struct top_part *part)
{
    char done[32], all[32];

    amount(done, sizeof done, step, part->done);
    amount(all, sizeof all, step, part->part);
    snprintf(text, 80, "%s/%s", done, all);
}

/* What it works at, of what it could at once; and what else is told. */
static void at_text(char at[64],
                    char more[32],
                    const struct top_step *step,
                    const struct top_part *part)
{
    more[0] = '\0';
    if (step->kind == TOP_BCAST) {
        snprintf(at, 64, "%.0f%%", 100 * share_of(part));
        return;
    }
    snprintf(at, 64, "%.0f/%.0f", part->running, part->slots);
    amount(more, 32, step,
           step->kind == TOP_GRAPH ? fmax(part->waiting, 0) : part->total);
}

void top_part_line(char line[TOP_LINE],
                   const struct top_step *step,
                   const struct top_part *part,
                   size_t columns)
{
    char bar[BAR_MOST + 1], units[80], rate[32], left[32], at[64], more[32];
    int width = name_width(columns);

    bar_text(bar, BAR_LEAST, share_of(part),
             part->part > 0 ? (part->done + part->underway) / part->part : 0);
    part_text(units, step, part);
    rate_text(rate, sizeof rate, step, part->rate);
    left_text(left, sizeof left, part->left);
    at_text(at, more, step, part);
    snprintf(line, TOP_LINE, PART_LINE, width, width, part->name,
             top_state_name(part->state), bar, units, rate, left, at, more);
    trim(line);
}
