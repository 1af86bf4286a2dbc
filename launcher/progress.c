/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/progress.h"
#include "launcher/notice.h"

#include <stdio.h>
#include <string.h>

#define BAR_CELLS 30
/* Ten times a second is smooth and costs nothing. */
#define REDRAW_NS 100000000

void progress_start(struct progress *p, uint64_t frames)
{
    p->frames = frames;
    p->terminal = notice_is_terminal();
    p->drawn_ns = 0;
}

/* The share of the frame's units that are done, 0..1. */
static double share_done(const struct distribution *d)
{
    return 1 - (double)d->left / (double)(d->frame.end - d->frame.begin);
}

/* "3", or "3 of 20" where it is known how many come. */
static void name_frame(const struct progress *p,
                       const struct distribution *d,
                       char *text,
                       size_t size)
{
    uintmax_t frame = (uintmax_t)d->frame.number + 1;

    if (p->frames > 0)
        snprintf(text, size, "%ju of %ju", frame, (uintmax_t)p->frames);
    else
        snprintf(text, size, "%ju", frame);
}

void progress_piece(struct progress *p, const struct distribution *d)
{
    int64_t now = clock_ns();
    char bar[BAR_CELLS + 1], line[200], frame[50];
    double done = share_done(d);

    if (!p->terminal || now - p->drawn_ns < REDRAW_NS)
        return;
    p->drawn_ns = now;
    if (p->frames > 0)
        done = ((double)d->frame.number + done) / (double)p->frames;
    for (int i = 0; i < BAR_CELLS; i++)
        bar[i] = i < (int)(done * BAR_CELLS) ? '#' : '.';
    bar[BAR_CELLS] = '\0';
    name_frame(p, d, frame, sizeof frame);
    snprintf(line, sizeof line, "[%s] frame %s, %zu slices out", bar, frame,
             d->out);
    notice_progress(line);
}

void progress_frame(struct progress *p,
                    const struct distribution *d,
                    const struct determination *t,
                    int adjusted)
{
    char frame[50];

    name_frame(p, d, frame, sizeof frame);
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
