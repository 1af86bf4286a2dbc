/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_text.h - the text of a whole file.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_TEXT_H
#define LAUNCHER_GRAPH_GRAPH_TEXT_H

#include "pmix_bcast/error.h"

#include <stddef.h>

/* All that is in a file of at most so many bytes, with a 0 behind, for free();
 * NULL with err if it cannot be read or has a byte 0 in it. */
char *graph_text_read(const char *path, size_t most, struct es_error *err);

#endif
