/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_show.h - the report of a step as tables, JSON or a picture.
 */
#ifndef LAUNCHER_WHATIF_STEP_SHOW_H
#define LAUNCHER_WHATIF_STEP_SHOW_H

#include "launcher/whatif/step_file.h"

#include <stdio.h>

#define STEP_ROWS 64 /* ranks, or else nodes, that have a bar */

#define STEP_ITERATIONS 128

/* What iterations were found, as people read it; "" if none were. */
void step_show_iterations(char text[STEP_ITERATIONS],
                          const struct step_file *f);
#define STEP_ENERGY 160

/* Likewise what its nodes have used, and what lower limits have saved. */
void step_show_energy(char text[STEP_ENERGY], const struct step_file *f);
/* 0, or -1 if something cannot be written. */
int step_show_table(FILE *out, const struct step_file *f);
int step_show_json(FILE *out, const struct step_file *f);
/* Useful and waiting time, a bar each.  If something cannot be written, the
 * stream has its error set. */
void step_show_chart(FILE *out, const struct step_file *f);
/* The same as a part of a page, by svg_open_part(). */
void step_show_part(FILE *out, const struct step_file *f, const char *label);

#endif
