/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal_output.h - what a slice has printed, as lines of a journal before the
 * slice's own: journal.h has their form.
 */
#ifndef LAUNCHER_RUN_JOURNAL_OUTPUT_H
#define LAUNCHER_RUN_JOURNAL_OUTPUT_H

#include "launcher/base/record_log.h"
#include "launcher/base/spool.h"

/* Put all of it, as record_log_put() does. */
int journal_output_put(struct record_log *l,
                       const struct spool *out,
                       int64_t *at);
int journal_output_is(const char *line);
struct output_part {
    int64_t at;     /* where the lines begin */
    uint64_t whole; /* bytes that they have: of a slice, or of what was one */
    uint64_t skip, bytes; /* these of them, behind so many */
};

/* Write these bytes to fd.  0, or -1 with errno (EBADMSG:
 * the log was changed meanwhile). */
int journal_output_write(const struct record_log *l,
                         const struct output_part *part,
                         int fd);
/* Does the file fd hold just these bytes?  1, 0 or -1 with errno. */
int journal_output_compare(const struct record_log *l,
                           const struct output_part *part,
                           int fd);

#endif
