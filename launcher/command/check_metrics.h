/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_metrics.h - how evenstep stands on this node, in Prometheus' text format:
 * for the folder that node_exporter reads (--collector.textfile.directory).
 */
#ifndef LAUNCHER_COMMAND_CHECK_METRICS_H
#define LAUNCHER_COMMAND_CHECK_METRICS_H

#include "launcher/command/check_node.h"

/* Write them into a file, which takes the place of that of before as a whole.
 * Fails as out_file.h says. */
int check_metrics_write(const struct check_node *c,
                        const char *path,
                        struct es_error *err);

#endif
