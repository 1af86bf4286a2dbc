/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_parts.h - what front ends have at work (top_file.h), and the nodes' parts
 * in it, as lines for people.  Pure.
 */
#ifndef LAUNCHER_COMMAND_TOP_PARTS_H
#define LAUNCHER_COMMAND_TOP_PARTS_H

#include "launcher/command/top_print.h"

#define TOP_COLUMNS 80 /* that every line of a node fits into */

/* Sort the nodes' parts; TOP_BY_LAG: lost nodes first, then those whose commands
 * fail, then those that will be done last. */
void top_parts_sort(struct top_step *step, enum top_order order);
/* "run 12.1 povray: 4 nodes, 0:18 so far, gain 2.31, efficiency 0.93" */
void top_title_line(char line[TOP_LINE], const struct top_step *step);
/* "[#####.....] frame 2 of 6, 1080/4320 units, 58.3/s, 0:56 left", in so many
 * columns. */
void top_bar_line(char line[TOP_LINE],
                  const struct top_step *step,
                  size_t columns);
/* "4 nodes: 3 working, 1 lost; units/s: min 0.81, median 14.2, max 31.0" */
void top_sum_line(char line[TOP_LINE], const struct top_step *step);
/* "longest: 0:12 on n0: cmds:4: sleep 99", cut to so many columns; "" if no task
 * runs. */
void top_longest_line(char line[TOP_LINE],
                      const struct top_step *step,
                      size_t columns);
/* For a list of all that is at work: "run 12.1 povray      25%  0:56 left" */
void top_list_line(char line[TOP_LINE], const struct top_step *step);
/* The heads of the columns of top_part_line(). */
void top_part_head(char line[TOP_LINE],
                   const struct top_step *step,
                   size_t columns);
void top_part_line(char line[TOP_LINE],
                   const struct top_step *step,
                   const struct top_part *part,
                   size_t columns);

#endif
