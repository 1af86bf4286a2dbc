/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal.h - what a run has finished, kept so that nothing is lost when the
 * front end dies: the FILE of --journal.
 *
 * JSON lines, only ever appended; each ends with the XXH3-64 of what stands
 * before it:
 *
 *   {"type":"journal","version":1,"work":TEXT,"command":[WORD...],"sum":HEX}
 *   {"type":"queued","frame":F,"begin":B,"end":E,"label":TEXT,"source":S,...}
 *   {"type":"output","data":BASE64,"sum":HEX}
 *   {"type":"slice","frame":F,"node":NAME,"begin":B,"end":E,"seconds":X,
 *    "attempt":N,"status":0,"bytes":N,"sum":HEX}
 *
 * The first line says what the journal is of; the queued ones, which frames
 * were taken from a queue; a slice's output stands right before it, and counts
 * only with it.  A slice is on the disk before anything else is done.  A line
 * that is not whole, and all behind it, is what a power cut has left: it is cut
 * off.  The journal holds all output, so a run that resumes writes all of it
 * anew, whatever had become of the gathered file.
 */
#ifndef LAUNCHER_RUN_JOURNAL_H
#define LAUNCHER_RUN_JOURNAL_H

#include "launcher/run/frame.h"
#include "pmix_bcast/error.h"

struct journal;

struct queued { /* a frame that was taken from a queue */
    struct frame frame;
    size_t source;
};

/*
 * Open the journal of this work (one line that says which frames it is) and
 * command.  It must be new, or resume say that it may hold something, of just
 * the same work and command.  path must outlive it.
 */
int journal_open(struct journal **j,
                 const char *path,
                 const char *work,
                 char *const command[],
                 int resume,
                 struct es_error *err);
void journal_close(struct journal *j); /* NULL is allowed */
/* The slices of a frame, ascending and apart, and how many; NULL has none. */
const struct kept *journal_kept(const struct journal *j,
                                uint64_t frame,
                                size_t *n);
/* The frames that were taken from queues, in the order of their numbers. */
const struct queued *journal_queued(const struct journal *j, size_t *n);
/* Put a slice that is done on the disk.  Fails with ES_WORK, and the journal is
 * as it was before. */
int journal_add_slice(struct journal *j,
                      uint64_t frame,
                      const char *node,
                      struct piece *p,
                      struct es_error *err);
/* Likewise a frame that was taken from a queue; a kill of this process cannot
 * undo it, a power cut may. */
int journal_add_queued(struct journal *j,
                       const struct queued *q,
                       struct es_error *err);
/* Write a slice's output to fd.  0, or -1 with errno (EBADMSG: the file was
 * changed meanwhile). */
int journal_write_output(const struct journal *j, const struct kept *k, int fd);

#endif
