/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines.h - the lines of a file as units: --lines FILE.
 *
 * The file may grow while it is used; one that has become shorter is an error.
 * It is not mapped: a page that is no longer there would end us by SIGBUS.  A
 * last line without its newline is a line.
 */
#ifndef LAUNCHER_BASE_LINES_H
#define LAUNCHER_BASE_LINES_H

#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>

struct lines { /* all zero: none */
    const char *path;
    int fd;
    uint64_t size;
    uint64_t n;
    uint64_t hash;      /* XXH3-64 of the text */
    uint64_t *landmark; /* where every LINES_STRIDE-th line begins */
};

#define LINES_STRIDE 1024 /* a landmark each: 8 bytes, and 512 to pass over */

/* path must outlive it.  Fails with ES_USAGE, also for a file without a
 * line; *l is empty then. */
int lines_open(struct lines *l, const char *path, struct es_error *err);
void lines_close(struct lines *l);
/* Where the text of the lines [begin, end), which were all there, begins and
 * ends.  Fails with ES_WORK if they are no more. */
int lines_find(const struct lines *l,
               uint64_t begin,
               uint64_t end,
               uint64_t *from,
               uint64_t *to,
               struct es_error *err);
/* Read just len bytes of the text.  Fails likewise. */
int lines_read(const struct lines *l,
               uint64_t at,
               void *bytes,
               size_t len,
               struct es_error *err);

#endif
