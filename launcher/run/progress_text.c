/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/progress_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BAR_MOST  20 /* cells */
#define BAR_LEAST 8
#define BAR_FRAME 3 /* two brackets and a blank */

/* The parts of the line, in their order. */
enum part { FRAME, UNITS, RATE, LEFT, EFFICIENCY, PARTS };

struct texts {
    char part[PARTS][64]; /* "": not known; all of them fit a text */
};

void progress_text_time(char *text, size_t size, double seconds)
{
    unsigned long s = (unsigned long)fmin(seconds + 0.5, 365 * 86400.0);

    if (s < 3600)
        snprintf(text, size, "%lu:%02lu", s / 60, s % 60);
    else
        snprintf(text, size, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
}

void progress_text_rate(char *text, size_t size, double rate, const char *unit)
{
    int digits = rate < 9.995 ? 2 : rate < 99.95 ? 1 : 0;

    if (rate < 0.01 || rate >= 1e6)
        snprintf(text, size, "%.3g%s", rate, unit);
    else
        snprintf(text, size, "%.*f%s", digits, rate, unit);
}

/* " of 20", where it is known how many come. */
static void print_of(char *text, size_t size, uint64_t frames)
{
    text[0] = '\0';
    if (frames > 0)
        snprintf(text, size, " of %" PRIu64, frames);
}

static void print_left(char *text, size_t size, const struct tally_now *now)
{
    char time[32];

    text[0] = '\0';
    if (now->left < 0)
        return;
    progress_text_time(time, sizeof time, now->left);
    snprintf(text, size, "%s left", time);
}

static void print_failed(char *text, size_t size, uint64_t failed)
{
    text[0] = '\0';
    if (failed > 0)
        snprintf(text, size, "%" PRIu64 " failed", failed);
}

static uint64_t frame_of(const struct tally_now *now)
{
    return now->frames > 0 && now->frame >= now->frames ? now->frames
                                                        : now->frame + 1;
}

static struct texts texts_of(const struct tally_now *now, double efficiency)
{
    struct texts t = {.part = {""}};
    char of[32];
    size_t size = sizeof t.part[0];

    print_of(of, sizeof of, now->frames);
    if (now->are_tasks) {
        snprintf(t.part[FRAME], size, "%" PRIu64 "/%" PRIu64 " tasks%s",
                 now->done, now->all, now->is_open ? " so far" : "");
        print_failed(t.part[UNITS], size, now->failed);
    } else {
        snprintf(t.part[FRAME], size, "frame %" PRIu64 "%s", frame_of(now), of);
        snprintf(t.part[UNITS], size, "%" PRIu64 "/%" PRIu64 " units",
                 now->done, now->all);
    }
    if (now->rate > 0)
        progress_text_rate(t.part[RATE], size, now->rate, "/s");
    print_left(t.part[LEFT], size, now);
    if (efficiency >= 0)
        snprintf(t.part[EFFICIENCY], size, "efficiency %.2f", efficiency);
    return t;
}

/* Characters of the line without its bar. */
static size_t width_of(const struct texts *t)
{
    size_t n = strlen(t->part[FRAME]);

    for (enum part i = UNITS; i < PARTS; i++)
        if (t->part[i][0])
            n += 2 + strlen(t->part[i]);
    return n;
}

/* "[####....] " */
static void print_bar(char *text, size_t cells, const struct tally_now *now)
{
    double part = now->all > 0 ? (double)now->done / (double)now->all : 0;
    size_t full = (size_t)(part * (double)cells);

    text[0] = '[';
    memset(text + 1, '.', cells);
    memset(text + 1, '#', full < cells ? full : cells);
    strcpy(text + 1 + cells, "] ");
}

/* Leave out what there is no room for beside a bar of the least size, and then
 * the bar and the rest. */
static size_t fit(struct texts *t, size_t columns)
{
    static const enum part beside[] = {EFFICIENCY, RATE};
    static const enum part alone[] = {UNITS, LEFT};
    size_t bar = BAR_LEAST + BAR_FRAME;

    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++)
        if (width_of(t) + bar > columns)
            t->part[beside[i]][0] = '\0';
    if (width_of(t) + bar <= columns) {
        bar = columns - width_of(t) - BAR_FRAME;
        return bar < BAR_MOST ? bar : BAR_MOST;
    }
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++)
        if (width_of(t) > columns)
            t->part[alone[i]][0] = '\0';
    return 0;
}

void progress_text_bar(char text[PROGRESS_TEXT],
                       size_t columns,
                       const struct tally_now *now,
                       double efficiency)
{
    struct texts t = texts_of(now, efficiency);
    size_t cells = fit(&t, columns), n;

    text[0] = '\0';
    if (cells > 0)
        print_bar(text, cells, now);
    n = strlen(text);
    for (enum part i = FRAME; i < PARTS; i++)
        if (t.part[i][0])
            n += (size_t)snprintf(text + n, PROGRESS_TEXT - n, "%s%s",
                                  i > FRAME ? ", " : "", t.part[i]);
    if (columns < n)
        text[columns] = '\0';
}

void progress_text_running(char text[PROGRESS_TEXT],
                           const struct tally_now *now)
{
    char of[32], rate[40] = "", left[40], failed[40];

    print_of(of, sizeof of, now->frames);
    if (now->rate > 0)
        progress_text_rate(rate, sizeof rate, now->rate,
                           now->are_tasks ? "/s" : " units/s");
    print_left(left, sizeof left, now);
    print_failed(failed, sizeof failed, now->failed);
    if (now->are_tasks) {
        snprintf(text, PROGRESS_TEXT,
                 "%" PRIu64 " of %" PRIu64 " tasks%s%s%s%s%s%s%s", now->done,
                 now->all, now->is_open ? " so far" : "", failed[0] ? ", " : "",
                 failed, rate[0] ? ", " : "", rate, left[0] ? ", " : "", left);
        return;
    }
    snprintf(text, PROGRESS_TEXT,
             "frame %" PRIu64 "%s: %" PRIu64 " of %" PRIu64 " units%s%s%s%s",
             frame_of(now), of, now->done, now->all, rate[0] ? ", " : "", rate,
             left[0] ? ", " : "", left);
}

/* "frame 2 of 6" or "frames 2 to 4 of 6" */
static void print_frames(char *text,
                         size_t size,
                         const struct progress_frames *f,
                         uint64_t frames)
{
    char of[32];

    print_of(of, sizeof of, frames);
    if (f->n == 1)
        snprintf(text, size, "frame %" PRIu64 "%s", f->first + 1, of);
    else
        snprintf(text, size, "frames %" PRIu64 " to %" PRIu64 "%s",
                 f->first + 1, f->last + 1, of);
}

void progress_text_frames(char text[PROGRESS_TEXT],
                          const struct progress_frames *f,
                          const struct tally_now *now)
{
    const char *what = f->n == 1 ? "" : "mean ", *so_far = "";
    double time = f->sum.time / (double)f->n;
    double efficiency = account_efficiency(&f->sum);
    char frames[96], left[40];
    int n;

    print_frames(frames, sizeof frames, f, now->frames);
    if (f->overlap) {
        what = "after ";
        so_far = " so far";
        time = f->sum.time;
    }
    n = snprintf(text, PROGRESS_TEXT, "%s: %s%.3f s", frames, what, time);
    if (efficiency >= 0)
        n += snprintf(text + n, PROGRESS_TEXT - (size_t)n,
                      ", efficiency%s %.2f", so_far, efficiency);
    text += n;
    print_left(left, sizeof left, now);
    if (f->n == 1 && efficiency >= 0)
        snprintf(text, PROGRESS_TEXT - (size_t)n,
                 ", ideal %.3f s, equal parts %.3f s%s", f->sum.ideal,
                 f->sum.equal, f->adjusted ? ", adjusted" : "");
    else if (f->n > 1 && left[0] && now->frames > 0)
        snprintf(text, PROGRESS_TEXT - (size_t)n, ", %s", left);
}

void progress_text_run(char text[PROGRESS_TEXT],
                       uint64_t frames,
                       double seconds,
                       const struct account_result *r)
{
    double efficiency = account_efficiency(r);
    int n = snprintf(text, PROGRESS_TEXT, "%" PRIu64 " frame%s in %.2f s",
                     frames, frames == 1 ? "" : "s", fmin(seconds, 1e9));

    if (efficiency >= 0)
        snprintf(text + n, PROGRESS_TEXT - (size_t)n, ", efficiency %.3f",
                 efficiency);
}

void progress_text_tasks(char text[PROGRESS_TEXT],
                         const struct tally_now *all,
                         double seconds,
                         const struct account_result *r)
{
    double efficiency = account_efficiency(r);
    char failed[40];
    int n;

    print_failed(failed, sizeof failed, all->failed);
    n = snprintf(text, PROGRESS_TEXT, "%" PRIu64 " task%s in %.2f s%s%s",
                 all->all, all->all == 1 ? "" : "s", fmin(seconds, 1e9),
                 failed[0] ? ", " : "", failed);
    if (efficiency >= 0)
        snprintf(text + n, PROGRESS_TEXT - (size_t)n, ", efficiency %.3f",
                 efficiency);
}

/* Three digits behind the point where it is short; no run is longer than a
 * billion seconds, so that all texts have room. */
static int print_seconds(char *text, size_t size, const char *what, double s)
{
    s = fmin(s, 1e9);
    return snprintf(text, size, "%s %.*f s", what, s < 9.9995 ? 3 : 2, s);
}

void progress_text_account(char text[PROGRESS_TEXT],
                           const struct account_result *r)
{
    const char *between = "; the rest: ";
    int n = print_seconds(text, PROGRESS_TEXT, "ideal", r->ideal);

    for (enum account_part i = 0; i < ACCOUNT_PARTS; i++)
        if (r->part[i] >= 0.001 * r->time) {
            n += snprintf(text + n, PROGRESS_TEXT - (size_t)n, "%s", between);
            n += print_seconds(text + n, PROGRESS_TEXT - (size_t)n,
                               account_name(i), r->part[i]);
            between = ", ";
        }
    print_seconds(text + n, PROGRESS_TEXT - (size_t)n, "; equal parts",
                  r->equal);
}

#define ADVICE_PART    0.1 /* of the time */
#define ADVICE_SECONDS 1

int progress_text_advice(char text[PROGRESS_TEXT],
                         const struct account_result *r,
                         const char *policy)
{
    static const char *const advice[ACCOUNT_PARTS] = {
        [ACCOUNT_RESTARTS] =
            "went to starting CMD again: shorten its start, or "
            "keep it running with --persistent",
        [ACCOUNT_WAITING] =
            "nodes waited for the last one: give smaller units, "
            "and more of them",
        [ACCOUNT_TWICE] =
            "went to what was lost, failed or done twice: see the "
            "messages above",
        [ACCOUNT_WIRE] = "went to the way between commands: give larger pieces "
                         "(--grain), or leave output on the nodes",
        [ACCOUNT_SLOWER] =
            "went to commands that took longer than before: look "
            "at the nodes with `evenstep probe --nodes --check`",
    };
    enum account_part most = 0;

    for (enum account_part i = 1; i < ACCOUNT_PARTS; i++)
        if (r->part[i] > r->part[most])
            most = i;
    if (!(r->part[most] >= ADVICE_PART * r->time)
        || !(r->part[most] >= ADVICE_SECONDS))
        return 0;
    if (policy && most == ACCOUNT_WAITING)
        snprintf(
            text, PROGRESS_TEXT,
            "%.0f %% of the time nodes waited for the last one: the policy "
            "%.64s decided: leave it and --pieces out",
            100 * r->part[most] / r->time, policy);
    else
        snprintf(text, PROGRESS_TEXT, "%.0f %% of the time %s",
                 100 * r->part[most] / r->time, advice[most]);
    return 1;
}
