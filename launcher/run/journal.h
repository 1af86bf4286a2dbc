/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal.h - what a run has finished, kept so that nothing is lost when the
 * front end dies: the FILE of --journal.
 *
 * JSON lines, only ever appended; each ends with the XXH3-64 of what stands
 * before it:
 *
 *   {"type":"journal","version":2,"work":TEXT,"command":[WORD...],
 *    "text":TEXT,"sum":HEX}
 *   {"type":"queued","frame":F,"begin":B,"end":E,"label":TEXT,"source":S,...}
 *   {"type":"output","data":BASE64,"sum":HEX}
 *   {"type":"slice","frame":F,"node":NAME,"begin":B,"end":E,"seconds":X,
 *    "attempt":N,"status":0,"bytes":N,"text":HEX,"files":[[BYTES,NS]...],
 *    "tasks":BASE64,"sum":HEX}
 *   {"type":"failed",...: as a slice, with "signal", without "bytes"}
 *   {"type":"text","text":TEXT,"sum":HEX}
 *   {"type":"gone","frame":F,"sum":HEX}
 *   {"type":"dropped","slice":N,"sum":HEX}
 *
 * The first line says what the journal is of; the queued ones, which frames
 * were taken from a queue; a slice's output stands right before it, and counts
 * only with it.  A failed one was left out.  With --lines "text" says which
 * text the units are, of a slice the XXH3-64 of its own; where a run goes on
 * with another text it says so in a line, and slices whose own is no more the
 * same are done anew.  Of a slice of tasks "tasks" has the hash and the bytes of output
 * of each: those whose values are no more the same are done anew, and no other; one that
 * stands elsewhere in the list since is the same task, if work.may_move.  Of lines that have the same units the last one counts.
 * Version 1 had no "text": its "work" says which.
 *
 * Where a line of a queue's file was mended ("file":true says that it is of one)
 * its frame is queued again, with the same number, or gone: what was done of it
 * before is done anew.  So is a slice that is dropped, the N-th in the file, done
 * or failed, from 0: its files were lost, or removed.  "files" are the sizes and
 * times of the files that a slice has brought back.
 *
 * A slice is on the disk before anything else is done.  A line that is not whole, and all behind it, is what a power cut has left: it is cut
 * off.  The journal holds all output, so a run that resumes writes all of it
 * anew, whatever had become of the gathered file.
 */
#ifndef LAUNCHER_RUN_JOURNAL_H
#define LAUNCHER_RUN_JOURNAL_H

#include "launcher/run/failures.h"
#include "launcher/run/frame.h"
#include "pmix_bcast/error.h"

#define JOURNAL_VERSION 2 /* that is written; 1 is read, too */

struct journal;

struct journal_work {
    const char *work;     /* which frames they are, in a line */
    const char *text;     /* which text the units are; NULL: none */
    const char *version1; /* both, as version 1 had it; NULL: as work */
    char *const *command;
    /* Are these units now of the text with this hash?  1, 0 or -1 with err. */
    int (*is_same)(void *arg,
                   struct slice units,
                   uint64_t text,
                   struct es_error *err);
    /* Of tasks: the XXH3-64 of the values of each that there is now, *n of them, for
     * free(3).  0, or -1 with err.  NULL: the units are none. */
    int (*sums)(void *arg, uint64_t **sum, uint64_t *n, struct es_error *err);
    int may_move; /* and one that stands elsewhere now is the same still */
    /* Which frame are they of now?  0, or -1: of none.  NULL: of that of before. */
    int (*place)(void *arg, struct slice units, uint64_t *frame);
    void *arg;
};

/* May a journal hold something, of the same work and command but for the text;
 * and is what was left out before to be done? */
enum journal_resume { JOURNAL_NEW, JOURNAL_RESUME, JOURNAL_REDO_FAILED };

/* path must outlive it. */
int journal_open(struct journal **j,
                 const char *path,
                 const struct journal_work *work,
                 enum journal_resume resume,
                 struct es_error *err);
void journal_close(struct journal *j); /* NULL is allowed */
/* The slices of a frame, done or left out, ascending and apart, and how many;
 * NULL has none. */
const struct kept *journal_kept(const struct journal *j,
                                uint64_t frame,
                                size_t *n);
/* How one that was left out had failed. */
const struct failure *journal_failure(const struct journal *j,
                                      const struct kept *k);
/* Tasks that are done anew, as their text is not what it was: those that are new at the
 * end of the list are none. */
uint64_t journal_changed(const struct journal *j);
/* All slices that count, by frame and units. */
const struct kept *journal_counting(const struct journal *j, size_t *n);
/* The slices that do not count any more: what they have made may still be there. */
const struct kept *journal_gone(const struct journal *j, size_t *n);
/* Of any of both: its frame as it was then, of a queue; else NULL. */
const struct frame *journal_frame(const struct journal *j,
                                  const struct kept *k);
/* Its files, k->n_marks of them. */
const struct file_mark *journal_marks(const struct journal *j,
                                      const struct kept *k);
/* The frames that were taken from queues, in the order of their numbers. */
const struct queued *journal_queued(const struct journal *j, size_t *n);
/* One of them is another now, but for its number, or NULL: gone.  0, or -1 with
 * err; it is as before when the journal is closed before journal_mended(). */
int journal_mend(struct journal *j,
                 size_t number,
                 const struct frame *now,
                 struct es_error *err);
/* All are mended: what was done of them does not count any more.  0, or -1. */
int journal_mended(struct journal *j, struct es_error *err);
/* Slices that are done, and for which is_lost() returns 1 (0, or -1 with err), do
 * not count any more.  0, or -1. */
int journal_drop(struct journal *j,
                 int (*is_lost)(void *arg,
                                const struct kept *k,
                                struct es_error *err),
                 void *arg,
                 struct es_error *err);
/* Nor will any that does not count now, also if its text is once more as it was: its
 * files are to be removed.  0, or -1. */
int journal_forget(struct journal *j, struct es_error *err);
/* Put a slice that is done on the disk.  Fails with ES_WORK, and the journal is
 * as it was before. */
int journal_add_slice(struct journal *j,
                      uint64_t frame,
                      const char *node,
                      struct piece *p,
                      struct es_error *err);
/* Likewise one that is left out; a kill of this process cannot undo it, a power
 * cut may. */
int journal_add_failed(struct journal *j,
                       uint64_t frame,
                       const char *node,
                       const struct piece *p,
                       struct es_error *err);
/* Likewise a frame that was taken from a queue. */
int journal_add_queued(struct journal *j,
                       const struct queued *q,
                       struct es_error *err);
/* Write a slice's output to fd.  0, or -1 with errno (EBADMSG: the file was
 * changed meanwhile). */
int journal_write_output(const struct journal *j, const struct kept *k, int fd);
/* Does the file fd hold just a slice's output?  1, 0 or -1 with errno. */
int journal_is_output(const struct journal *j, const struct kept *k, int fd);

#endif
