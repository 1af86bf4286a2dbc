/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_compare.h - reports of steps beside each other: two of them factor by
 * factor, more as a table over runs: how the program scales, or whether it
 * became slower.
 */
#ifndef LAUNCHER_WHATIF_STEP_COMPARE_H
#define LAUNCHER_WHATIF_STEP_COMPARE_H

#include "launcher/whatif/any_report.h"

#include <stdio.h>

/* There are two or more, all of them of steps. */
int step_compare_can(const struct any_report r[], size_t n);
/* For people, of step_compare_can(): 0, or -1 if memory ran out or something
 * cannot be written. */
int step_compare_table(FILE *out, const struct any_report r[], size_t n);
/* As a part of a page, of those that are of steps; nothing if there is one. 0,
 * or -1 if memory ran out. */
int step_compare_page(FILE *out, const struct any_report r[], size_t n);
/* For programs: each has "compared" then, to the first of two, or else to the
 * smallest.  0, or -1 if memory ran out. */
int step_compare_add(struct any_report r[], size_t n);

#endif
