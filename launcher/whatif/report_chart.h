/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_chart.h - a run's report as a picture: who worked when, what share of
 * each frame every node had, and how evenly the frames ended.
 */
#ifndef LAUNCHER_WHATIF_REPORT_CHART_H
#define LAUNCHER_WHATIF_REPORT_CHART_H

#include "launcher/whatif/report_file.h"

#include <stdio.h>

#define CHART_FRAMES 400 /* at most: a frame is then 2 pixels wide */
#define CHART_NODES  64  /* that have a row and a colour of their own */

/* Frames [begin, end) of the file's, at most CHART_FRAMES and at least one.  If
 * something cannot be written, the stream has its error set. */
void report_chart_draw(FILE *out,
                       const struct report_file *f,
                       size_t begin,
                       size_t end);

/* What CHART_WORK shows. */
const char *report_chart_work(const struct report_file *f);

enum chart_part {
    CHART_WORK,   /* who worked when */
    CHART_SHARES, /* of each frame, by node */
    CHART_REST    /* what each frame's time went to */
};

/* One of them, likewise, in a page of HTML (svg_open_part()). */
void report_chart_part(FILE *out,
                       const struct report_file *f,
                       size_t begin,
                       size_t end,
                       enum chart_part part,
                       const char *label);
/* The colour and texture of a node, as a small picture. */
void report_chart_key(FILE *out, size_t node);

#endif
