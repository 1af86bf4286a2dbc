/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_pace.h - when a batch job's log gets a line: that of each frame as long
 * as these are few, and then one after 10 s, 20 s, 30 s, and each minute, so
 * that the log of a long run and that of many short frames can both be read.
 *
 * Pure; times are seconds of any clock.
 */
#ifndef LAUNCHER_RUN_LOG_PACE_H
#define LAUNCHER_RUN_LOG_PACE_H

#define LOG_PACE_FRAMES 20 /* that have a line each, whenever they end */

struct log_pace {
    double said;     /* when the last line was */
    unsigned frames; /* lines of frames */
    unsigned waited; /* lines that had to wait */
};

void log_pace_start(struct log_pace *p, double now);
/* May a frame that has ended have its line now?  Then it counts as said. */
int log_pace_frame(struct log_pace *p, double now);
/* Has nothing been said for so long that a line is due?  Likewise. */
int log_pace_due(struct log_pace *p, double now);

#endif
