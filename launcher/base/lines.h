/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines.h - the lines, or other records, of a file as units: --lines FILE.
 *
 * The file may grow while it is used; where what was there at the start is
 * another text, or gone, reading it is an error.  It is read, not mapped: a page
 * that is gone would kill us by SIGBUS.  A last line
 * without a newline counts as a line, and what stands behind the last mark as a
 * record.
 */
#ifndef LAUNCHER_BASE_LINES_H
#define LAUNCHER_BASE_LINES_H

#include "launcher/base/record_rule.h"
#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct lines { /* all zero: closed */
    const char *path;
    const struct record_rule *rule;
    int fd;
    int is_copy; /* ours, which nobody changes */
    uint64_t size;
    uint64_t n;         /* units */
    uint64_t mark;      /* bytes of a byte order mark, which are nobody's */
    uint64_t header;    /* where the first of them begins, behind the header */
    uint64_t hash;      /* XXH3-64 of the text */
    uint64_t *landmark; /* offset of every LINES_STRIDE-th unit */
    size_t landmarks;   /* there is room for */
    struct stat was;    /* as it was opened */
    uint64_t *sum;      /* XXH3-64 of every LINES_BLOCK bytes */
    size_t sums;        /* 0: not all are known yet */
};

#define LINES_STRIDE                                                           \
    1024 /* 8 bytes for as many units; 512 to skip on average */

#define LINES_BLOCK (64u << 10)

/* path and rule must outlive *l; a rule of NULL: units are lines.  A path of "-":
 * standard input, of which a copy is kept in TMPDIR.  Fails with ES_USAGE, also for
 * a file without a unit, or one that is not as the rule has it, and with ES_WORK if
 * a signal ends the wait for input; *l is closed then. */
int lines_open(struct lines *l,
               const char *path,
               const struct record_rule *rule,
               struct es_error *err);
/* Likewise of a file that is open already, and *l's from now on; name is for
 * messages. */
int lines_open_fd(struct lines *l,
                  int fd,
                  const char *name,
                  struct es_error *err);
/* Likewise, but others of this process append whole lines to it: it may be empty, and
 * has the units that it had when lines_grow() was called last.  0, or -1: no memory,
 * or it cannot be read. */
int lines_open_growing(struct lines *l,
                       int fd,
                       const char *name,
                       struct es_error *err);
int lines_grow(struct lines *l, struct es_error *err);
void lines_close(struct lines *l);
/* Has the last line no newline?  0 also where it cannot be read. */
int lines_are_open(const struct lines *l);
/* Find where the text of the units [begin, end) begins and ends; end is at most
 * n.  Fails with ES_WORK if the file has become shorter, or has another text
 * there. */
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
/* Say on stderr, at the end, if others have changed the file since: of what was read
 * nothing is. */
void lines_tell_changes(const struct lines *l);
/* XXH3-64 of what a command for the units [begin, end) reads: the header, and
 * these.  Fails likewise. */
int lines_sum(const struct lines *l,
              uint64_t begin,
              uint64_t end,
              uint64_t *sum,
              struct es_error *err);

#endif
