/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines.h - the lines of a file as units: --lines FILE.
 *
 * The file is mapped and may not become shorter while it is used.  A last line
 * without its newline is a line.
 */
#ifndef LAUNCHER_LINES_H
#define LAUNCHER_LINES_H

#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>

struct lines {
    const char *text; /* mapped; NULL: none */
    size_t size;
    uint64_t n;
    uint64_t hash;    /* XXH3-64 of the text */
    size_t *landmark; /* where every LINES_STRIDE-th line begins */
};

#define LINES_STRIDE 1024 /* a landmark each: 8 bytes, and 512 to pass over */

/* Fails with ES_USAGE, also for a file without a line. */
int lines_open(struct lines *l, const char *path, struct es_error *err);
void lines_close(struct lines *l);
/* The text of the lines [begin, end), which are all there, and its length. */
const char *lines_text(const struct lines *l,
                       uint64_t begin,
                       uint64_t end,
                       size_t *len);

#endif
