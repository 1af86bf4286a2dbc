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

void progress_piece(struct progress *p, const struct distribution *d)
{
    int64_t now = clock_ns();
    char bar[BAR_CELLS + 1], line[200];
    double done;

    if (!p->terminal || now - p->drawn_ns < REDRAW_NS)
        return;
    p->drawn_ns = now;
    done = ((double)d->frame.number + share_done(d)) / (double)p->frames;
    for (int i = 0; i < BAR_CELLS; i++)
        bar[i] = i < (int)(done * BAR_CELLS) ? '#' : '.';
    bar[BAR_CELLS] = '\0';
    snprintf(line, sizeof line, "[%s] frame %ju of %ju, %zu slices out", bar,
             (uintmax_t)d->frame.number + 1, (uintmax_t)p->frames, d->out);
    notice_progress(line);
}

void progress_frame(struct progress *p,
                    const struct distribution *d,
                    const struct determination *t,
                    int adjusted)
{
    if (p->terminal) {
        p->drawn_ns = 0;
        progress_piece(p, d);
    } else
        notice("frame %ju of %ju: %.3f s, efficiency %.2f%s",
               (uintmax_t)d->frame.number + 1, (uintmax_t)p->frames, t->last,
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
