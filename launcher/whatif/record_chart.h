/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record_chart.h - pictures of a broadcast (how long each node took) and of a
 * task graph (who worked when, as it was planned and as it was).
 */
#ifndef LAUNCHER_WHATIF_RECORD_CHART_H
#define LAUNCHER_WHATIF_RECORD_CHART_H

#include "launcher/whatif/any_report.h"

#include <stdio.h>

#define RECORD_ROWS 256 /* nodes, or cores, that have a row */

/* label: as a part of a page, by svg_open_part(); NULL: a whole picture.  Of
 * kinds but these two nothing is drawn. */
void record_chart(FILE *out, const struct any_report *r, const char *label);

#endif
