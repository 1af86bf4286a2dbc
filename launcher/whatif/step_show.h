/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_show.h - the report of a step as tables or JSON.
 */
#ifndef LAUNCHER_WHATIF_STEP_SHOW_H
#define LAUNCHER_WHATIF_STEP_SHOW_H

#include "launcher/whatif/step_file.h"

#include <stdio.h>

#define STEP_LINES 4
#define STEP_LINE  1024
#define STEP_SHORT 64
#define STEP_SITE  64
#define STEP_SITES 10 /* that are listed */
#define STEP_WORST 20 /* ranks that are listed */

/* Whose step it was, a line each: how many, 0 where the file does not have it.
 * All texts are plain. */
size_t step_show_head(char line[STEP_LINES][STEP_LINE],
                      const struct step_file *f);
/* Why it took so long, how to check that, and how it ended. */
size_t step_show_why(char line[STEP_LINES][STEP_LINE],
                     const struct step_file *f);
/* "  lost after 12.3 s", of a node or rank that was; else "". */
const char *step_show_lost(char text[STEP_SHORT], const struct step_row *r);
/* How a rank ended, unless it left MPI: "killed by signal 9"; else "". */
const char *step_show_state(char text[STEP_SHORT], const struct step_row *r);
/* It has the tree of factors, not only its upper part. */
/* The factor beside load balance, in a sentence: of CPU time no messages are
 * known. */
const char *step_show_busy(const struct step_file *f);
int step_show_has_tree(const struct step_file *f);
/* It has the ranks' CPU time. */
int step_show_has_cpu(const struct step_file *f);

struct step_site {
    char call[32], where[STEP_SITE];
    double waiting, calls;
};
/* Of a list of call sites, this one; 0: it is not whole. */
int step_show_site(struct step_site *s, const json_t *one);

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

#endif
