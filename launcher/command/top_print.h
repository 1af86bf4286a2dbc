/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_print.h - what is metered of steps (top_file.h) as lines for people.  Pure.
 */
#ifndef LAUNCHER_COMMAND_TOP_PRINT_H
#define LAUNCHER_COMMAND_TOP_PRINT_H

#include "launcher/command/top_group.h"

#define TOP_LINE 320 /* bytes of a line, NUL included */

enum top_order {
    TOP_BY_LAG,
    TOP_BY_NAME,
    TOP_BY_SPEED,
    TOP_BY_WAITING,
    TOP_BY_LIMIT
};

/* Sort a step's nodes: by name, or the worst first; by lag: those that are lost,
 * then the last. */
void top_sort(struct top_step *step, enum top_order order);
void top_step_line(char line[TOP_LINE], const struct top_step *step);
/* The line of a rack, or of the step, whose rack is "": as many of its numbers
 * as fit into the columns. */
void top_group_line(char line[TOP_LINE],
                    const struct top_group *group,
                    size_t columns);
/* The heads of the columns of top_node_line(). */
const char *top_head(const struct top_step *step);
void top_node_line(char line[TOP_LINE],
                   const struct top_step *step,
                   const struct top_node *node);

#endif
