/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_import.h - evenstep graph import: says what is understood of a file, and
 * writes it as evenstep's own JSON.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_IMPORT_H
#define LAUNCHER_GRAPH_GRAPH_IMPORT_H

#include "launcher/graph/graph_format.h"

/*
 *   how   as f was read
 *   path  of f
 *   to    file to write, or NULL
 *   json  print one JSON object
 */
int graph_import(const struct graph_file *f,
                 const struct graph_reading *how,
                 const char *path,
                 const char *to,
                 int json,
                 struct es_error *err);

#endif
