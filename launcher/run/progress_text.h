/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress_text.h - how far a run is, in words: for the line that is redrawn on
 * a terminal, and for the lines of a batch job's log.  Pure.
 */
#ifndef LAUNCHER_RUN_PROGRESS_TEXT_H
#define LAUNCHER_RUN_PROGRESS_TEXT_H

#include "launcher/run/tally.h"
#include "policy/account.h"

#include <stddef.h>

#define PROGRESS_TEXT 400 /* room for any of these texts */

/* Frames one after the other, told together. */
struct progress_frames {
    uint64_t first, last; /* numbers */
    uint64_t n;
    int overlap; /* sum is of the run until their end, not of them */
    struct account_result sum;
    int adjusted; /* after the last one */
};

/* 0:07, 12:34 or 1:02:03; of more than a year nobody wants to know. */
void progress_text_time(char *text, size_t size, double seconds);
/* Three digits are enough. */
void progress_text_rate(char *text, size_t size, double rate, const char *unit);
/*
 * "[######......] frame 2 of 6, 800/4320 units, 58.3/s, 1:00 left, efficiency
 * 0.93", of at most `columns` characters: what there is no room for is left
 * out, the least important first.  efficiency < 0: not known yet.
 */
void progress_text_bar(char text[PROGRESS_TEXT],
                       size_t columns,
                       const struct tally_now *now,
                       double efficiency);
/* "frame 2 of 6: 312 of 720 units, 58.3 units/s, 1:00 left", or "312 of 720
 * tasks, 3 failed, 58.3/s, 1:00 left" */
void progress_text_running(char text[PROGRESS_TEXT],
                           const struct tally_now *now);
/* "300 tasks in 8.10 s, 3 failed, efficiency 0.950" */
void progress_text_tasks(char text[PROGRESS_TEXT],
                         const struct tally_now *all,
                         double seconds,
                         const struct account_result *r);
/* "frame 2 of 6: 1.234 s, efficiency 0.93, ideal 1.148 s, equal parts 3.456 s"
 * or "frames 20 to 340 of 1000: mean 0.005 s, efficiency 0.93, 0:40 left"; of
 * frames that overlap "frame 2 of 6: after 2.345 s, efficiency so far 0.93", and
 * so on.  Where nothing was done there is no efficiency. */
void progress_text_frames(char text[PROGRESS_TEXT],
                          const struct progress_frames *f,
                          const struct tally_now *now);
/* "6 frames in 31.20 s, efficiency 0.920", likewise. */
void progress_text_run(char text[PROGRESS_TEXT],
                       uint64_t frames,
                       double seconds,
                       const struct account_result *r);
/* "ideal 28.70 s; the rest: restarts 1.100 s, waiting 0.900 s; equal parts
 * 90.10 s": what the rest went to is told where it is something. */
void progress_text_account(char text[PROGRESS_TEXT],
                           const struct account_result *r);
/* What the largest part of a run's time went to beside the ideal, and what to do about it
 * (policy: that somebody has named, or NULL):
 * 1; or 0, where that part is below a tenth of the time or below a second. */
int progress_text_advice(char text[PROGRESS_TEXT],
                         const struct account_result *r,
                         const char *policy);

#endif
