/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record_log.h - the file of a --journal: JSON lines, which are only ever
 * appended.  Each line ends with the XXH3-64 of what stands before it.
 *
 * What was committed is on the disk.  A crash or a power cut may leave a line
 * that is not whole: reading the log cuts it off, with all that follows it.
 * Only one process at a time may have a log open.  Error messages begin with
 * "--journal".
 */
#ifndef LAUNCHER_BASE_RECORD_LOG_H
#define LAUNCHER_BASE_RECORD_LOG_H

#include "pmix_bcast/error.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_SUM_BYTES 27 /* the end of a line: ,"sum":"16 digits"} and \n */

struct record_log {
    const char *path;
    int fd;      /* -1: closed */
    int64_t end; /* where the committed lines end */
};

/*
 * Open path, which must outlive the log, and create it if it is missing.
 * Returns 0 if it is empty and 1 if it is not.  Without resume a log that is
 * not empty is an error.
 */
int record_log_open(struct record_log *l,
                    const char *path,
                    int resume,
                    struct es_error *err);
void record_log_close(struct record_log *l);

/* --- reading -------------------------------------------------------------- */

enum record_verdict {
    RECORD_FAILED = -1, /* with *err set */
    RECORD_KEPT,        /* the line counts, and all before it */
    RECORD_PART,        /* it counts only if a later one is RECORD_KEPT */
    RECORD_UNKNOWN      /* it does not count, nor does what follows it */
};

/* Called for a whole line, which begins at byte `at` of the file. */
typedef enum record_verdict (*record_fn)(void *arg,
                                         const char *line,
                                         int64_t at,
                                         struct es_error *err);

/* Call fn for each whole line in turn, then cut off what does not count.  A
 * file whose first line does not count is not a journal: it stays as it is, and
 * the call fails with ES_USAGE. */
int record_log_read(struct record_log *l,
                    record_fn fn,
                    void *arg,
                    struct es_error *err);
/* Is this a text that ends with its own sum?  len includes the newline. */
int record_is_whole(const char *line, size_t len);

/* --- writing -------------------------------------------------------------- */

/* Write a line, which ends with a brace, at *at: at first the end of the
 * committed lines.  *at moves on to the end of the line.  0, or -1 with errno.
 */
int record_log_put(struct record_log *l, const char *line, int64_t *at);
/* Likewise an object, which is released; NULL means that memory ran out. */
int record_log_put_object(struct record_log *l, json_t *object, int64_t *at);
/* All lines up to `at` count from now on; with sync they are on the disk. */
int record_log_commit(struct record_log *l,
                      int64_t at,
                      int sync,
                      struct es_error *err);
/* Take back what was put and not committed, and report errno.  Returns -1. */
int record_log_full(struct record_log *l, struct es_error *err);
/* Put one object, which is released, and commit it with sync.  The first one
 * also puts the name of the file itself on the disk. */
int record_log_add(struct record_log *l, json_t *object, struct es_error *err);

#endif
