/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_metrics.h - what front ends have at work (top_file.h) for Prometheus, in
 * its text-based format, version 0.0.4.
 *
 * Every series has the labels kind, jobid, step and pid of its front end, and
 * those of a node have node.  There are as many as nodes times metrics, for as
 * long as the front end runs.
 */
#ifndef LAUNCHER_COMMAND_TOP_METRICS_H
#define LAUNCHER_COMMAND_TOP_METRICS_H

#include "launcher/command/top_group.h"

#include <stdio.h>

#define TOP_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Print all.  Whether that went well ferror(file) tells. */
void top_metrics_print(FILE *file, const struct top_step steps[], size_t n);
/* As out_file_write() does it. */
int top_metrics_write(const char *path,
                      const struct top_step steps[],
                      size_t n,
                      struct es_error *err);
/* Print a label's value: what Prometheus wants to be escaped is. */
void top_metrics_label(FILE *file, const char *name, const char *value);

#endif
