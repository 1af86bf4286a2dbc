/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_print.h - steps (top_file.h) as lines for people, and as a file for
 * Prometheus (text-based format, version 0.0.4).
 */
#ifndef LAUNCHER_COMMAND_TOP_PRINT_H
#define LAUNCHER_COMMAND_TOP_PRINT_H

#include "launcher/command/top_group.h"

#define TOP_LINE 320 /* bytes of a line, NUL included */

enum top_order { TOP_BY_NAME, TOP_BY_SPEED, TOP_BY_WAITING, TOP_BY_LIMIT };

/* Sort a step's nodes: by name, or the worst first. */
void top_sort(struct top_step *step, enum top_order order);
void top_step_line(char line[TOP_LINE], const struct top_step *step);
/* Of one that is a run: how far it is, in so many columns. */
void top_run_line(char line[TOP_LINE],
                  const struct top_step *step,
                  int columns);
/* The line of a rack, or of the step, whose rack is "". */
void top_group_line(char line[TOP_LINE], const struct top_group *group);
/* The heads of the columns of top_node_line(). */
const char *top_head(const struct top_step *step);
void top_node_line(char line[TOP_LINE],
                   const struct top_step *step,
                   const struct top_node *node);
/* Written to a file beside path, which is then renamed to it. */
int top_metrics_write(const char *path,
                      const struct top_step steps[],
                      size_t n,
                      struct es_error *err);

#endif
