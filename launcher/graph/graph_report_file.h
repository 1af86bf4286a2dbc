/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_report_file.h - reports from files and folders.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_REPORT_FILE_H
#define LAUNCHER_GRAPH_GRAPH_REPORT_FILE_H

#include "launcher/graph/graph_times.h"

/* Add the report at path; of a folder all that are in it and below, where other
 * files are passed over. */
int graph_report_read(struct graph_times *t,
                      const char *path,
                      struct es_error *err);

#endif
