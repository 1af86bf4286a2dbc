/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_file.h - reads a task graph from a file of any format.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_FILE_H
#define LAUNCHER_GRAPH_GRAPH_FILE_H

#include "launcher/graph/graph_format.h"

#define GRAPH_FILE_MAX (256u << 20) /* bytes; 100,000 tasks are about 50 MB */

/*
 * Read a graph, to be released by graph_file_clear().  What the text begins
 * with tells the format: { or [ is JSON, a digit STG, anything else DOT.  Fails
 * with ES_USAGE (ES_ENV: out of memory), naming file and place; *f is empty.
 */
int graph_file_read(struct graph_file *f,
                    const char *path,
                    const struct graph_reading *how,
                    struct es_error *err);
/* The same from a text; name is for messages. */
int graph_file_parse(struct graph_file *f,
                     const char *name,
                     const char *text,
                     const struct graph_reading *how,
                     struct es_error *err);
void graph_file_clear(struct graph_file *f);

#endif
