/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/progress.h"
#include "launcher/base/notice.h"
#include "pmix_bcast/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BAR_CELLS 20
/* Ten times a second is smooth and costs nothing. */
#define REDRAW_NS 100000000

void progress_start(struct progress *p, uint64_t frames)
{
    memset(p, 0, sizeof *p);
    p->frames = frames;
    p->terminal = notice_is_terminal();
    p->start_ns = clock_ns();
}

/* The share of the frame's units that are done, 0..1. */
static double share_done(const struct distribution *d)
{
    const struct frame *f = distribution_frame(d);

    return 1
           - (double)dispatch_left(distribution_dispatch(d))
                 / (double)(f->end - f->begin);
}

/* "3", or "3 of 20" where it is known how many come. */
static void name_frame(const struct progress *p,
                       uint64_t number,
                       char *text,
                       size_t size)
{
    if (p->frames > 0)
        snprintf(text, size, "%ju of %ju", (uintmax_t)number + 1,
                 (uintmax_t)p->frames);
    else
        snprintf(text, size, "%ju", (uintmax_t)number + 1);
}

/* 0:07, 12:34 or 1:02:03; of more than a year nobody wants to know. */
static void print_time(char *text, size_t size, double seconds)
{
    unsigned long s = (unsigned long)fmin(seconds + 0.5, 365 * 86400.0);

    if (s < 3600)
        snprintf(text, size, "%lu:%02lu", s / 60, s % 60);
    else
        snprintf(text, size, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
}

/* The bar is of all frames or, where nobody knows how many come, of this one;
 * `part` of it is done. */
static void draw(const struct progress *p, double part, uint64_t number)
{
    double seconds = (double)(clock_ns() - p->start_ns) * 1e-9;
    double done = (double)number + part, all = (double)p->frames;
    double full = p->frames > 0 ? done / all : part;
    char bar[BAR_CELLS + 1], left[32], frame[50], line[200];
    int n;

    for (int i = 0; i < BAR_CELLS; i++)
        bar[i] = i < (int)(full * BAR_CELLS) ? '#' : '.';
    bar[BAR_CELLS] = '\0';
    name_frame(p, number, frame, sizeof frame);
    n = snprintf(line, sizeof line, "[%s] frame %s", bar, frame);
    if (p->frames > 0 && done > 0 && seconds > 0) {
        print_time(left, sizeof left, seconds / done * (all - done));
        n += snprintf(line + n, sizeof line - (size_t)n,
                      ", %s left, %.3g frames/s", left, done / seconds);
    }
    if (p->done > 0)
        snprintf(line + n, sizeof line - (size_t)n, ", efficiency %.2f",
                 p->efficiency);
    notice_progress(line);
}

void progress_piece(struct progress *p, const struct distribution *d)
{
    int64_t now = clock_ns();

    if (!p->terminal || now - p->drawn_ns < REDRAW_NS)
        return;
    p->drawn_ns = now;
    draw(p, share_done(d), distribution_frame(d)->number);
}

void progress_frame(struct progress *p,
                    const struct distribution *d,
                    const struct determination *t,
                    int adjusted)
{
    char frame[50];

    name_frame(p, distribution_frame(d)->number, frame, sizeof frame);
    p->done++;
    p->efficiency += (t->efficiency - p->efficiency) / (double)p->done;
    if (p->terminal) {
        p->drawn_ns = 0;
        progress_piece(p, d);
    } else
        notice("frame %s: %.3f s, efficiency %.2f%s", frame, t->last,
               t->efficiency, adjusted ? ", adjusted" : "");
}

void progress_stop(struct progress *p)
{
    if (p->terminal)
        notice_progress(NULL);
}

void progress_end(struct progress *p, const struct summary *s)
{
    progress_stop(p);
    notice("%ju frame%s in %.2f s, mean efficiency %.3f (%s)",
           (uintmax_t)s->frames, s->frames == 1 ? "" : "s", s->seconds,
           s->efficiency, s->policy);
}
