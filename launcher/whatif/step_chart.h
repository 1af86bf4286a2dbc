/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_chart.h - pictures of a step: a bar for each rank, and how the time of
 * each went.
 */
#ifndef LAUNCHER_WHATIF_STEP_CHART_H
#define LAUNCHER_WHATIF_STEP_CHART_H

#include "launcher/whatif/step_file.h"

#include <stdio.h>

#define STEP_ROWS 64 /* ranks, or else nodes, that have a bar */

/* Useful and waiting time, a bar each.  If something cannot be written, the
 * stream has its error set. */
void step_chart(FILE *out, const struct step_file *f);
/* The same as a part of a page, by svg_open_part(). */
void step_chart_part(FILE *out, const struct step_file *f, const char *label);

#define STEP_BINS 50
/* Some rank has bins. */
int step_strips_known(const struct step_file *f);
/* How the time of each rank went, or of the STEP_ROWS worst ones: a part of a
 * page that has svg_textures(). */
void step_strips_part(FILE *out, const struct step_file *f, const char *label);

#endif
