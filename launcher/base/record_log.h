/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record_log.h - the file of a --journal: JSON lines, only ever appended, of
 * which each ends with the XXH3-64 of what stands before it.
 *
 * What was committed is on the disk.  A line that is not whole, and all behind
 * it, is what a power cut has left: it is cut off when the log is read.  One
 * process at a time is at a log.  Messages begin with --journal.
 */
#ifndef LAUNCHER_BASE_RECORD_LOG_H
#define LAUNCHER_BASE_RECORD_LOG_H

#include "pmix_bcast/error.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_SUM_BYTES 27 /* of a line's end: ,"sum":"16 digits"} and \n */

struct record_log {
    const char *path;
    int fd;      /* -1: closed */
    int64_t end; /* of what is committed */
};

/*
 * Open path, which must outlive the log, and make it if it is not there.
 * Returns 0 if it is empty, 1 if it holds something, which is an error without
 * resume.
 */
int record_log_open(struct record_log *l,
                    const char *path,
                    int resume,
                    struct es_error *err);
void record_log_close(struct record_log *l);

/* --- reading -------------------------------------------------------------- */

enum record_verdict {
    RECORD_FAILED = -1, /* with *err set */
    RECORD_KEPT,        /* it counts, and all before it */
    RECORD_PART,        /* it counts with one behind it */
    RECORD_UNKNOWN      /* it does not count, nor does what is behind it */
};

/* A whole line, which begins at `at`. */
typedef enum record_verdict (*record_fn)(void *arg,
                                         const char *line,
                                         int64_t at,
                                         struct es_error *err);

/* Hear all lines, and cut off what does not count; a file whose first line does
 * not count is none of ours, and is left as it is: ES_USAGE. */
int record_log_read(struct record_log *l,
                    record_fn fn,
                    void *arg,
                    struct es_error *err);
/* Is a line of len bytes, with its end, a text with the sum that it says? */
int record_is_whole(const char *line, size_t len);

/* --- writing -------------------------------------------------------------- */

/* Write a line that ends with a brace, behind what is committed or was written
 * before at *at, which is moved on.  Returns -1 with errno. */
int record_log_put(struct record_log *l, const char *line, int64_t *at);
/* Likewise an object, which is taken over and may be NULL (no memory). */
int record_log_put_object(struct record_log *l, json_t *object, int64_t *at);
/* What was put up to `at` counts, and if sync is set is on the disk. */
int record_log_commit(struct record_log *l,
                      int64_t at,
                      int sync,
                      struct es_error *err);
/* What was put does not count: for errno.  Returns -1. */
int record_log_full(struct record_log *l, struct es_error *err);
/* Put one object, which is taken over, and commit it; of an empty log the name
 * itself is on the disk then, too. */
int record_log_add(struct record_log *l, json_t *object, struct es_error *err);

#endif
