/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines.h - the lines of a file as units: --lines FILE.
 *
 * The file may grow while it is used; if it shrinks, that is an error.  It is
 * read, not mapped: a page that is gone would kill us by SIGBUS.  A last line
 * without a newline counts as a line.
 */
#ifndef LAUNCHER_BASE_LINES_H
#define LAUNCHER_BASE_LINES_H

#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>

struct lines { /* all zero: closed */
    const char *path;
    int fd;
    uint64_t size;
    uint64_t n;
    uint64_t hash;      /* XXH3-64 of the text */
    uint64_t *landmark; /* offset of every LINES_STRIDE-th line */
};

#define LINES_STRIDE                                                           \
    1024 /* 8 bytes for as many lines; 512 to skip on average */

/* path must outlive *l.  Fails with ES_USAGE, also for an empty file; *l is
 * closed then. */
int lines_open(struct lines *l, const char *path, struct es_error *err);
void lines_close(struct lines *l);
/* Find where the text of the lines [begin, end) begins and ends; end is at most
 * n.  Fails with ES_WORK if the file has become shorter. */
int lines_find(const struct lines *l,
               uint64_t begin,
               uint64_t end,
               uint64_t *from,
               uint64_t *to,
               struct es_error *err);
/* Read exactly len bytes from offset `at` on.  Fails likewise. */
int lines_read(const struct lines *l,
               uint64_t at,
               void *bytes,
               size_t len,
               struct es_error *err);

#endif
