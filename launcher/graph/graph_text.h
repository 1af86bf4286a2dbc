/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_text.h - the text of a whole file, or its JSON, without a byte order mark.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_TEXT_H
#define LAUNCHER_GRAPH_GRAPH_TEXT_H

#include "pmix_bcast/error.h"

#include <jansson.h>
#include <stddef.h>

/* All that is in a file of at most so many bytes, with a 0 behind, for free();
 * NULL with err if it cannot be read or has a byte 0 in it. */
char *graph_text_read(const char *path, size_t most, struct es_error *err);
/* What is in a file of JSON, without keys that are there twice; NULL if it cannot be
 * read, or is none. */
json_t *graph_text_json(const char *path);

#endif
