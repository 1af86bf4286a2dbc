/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal_line.h - the lines of a journal, but for output, as JSON and back:
 * journal.h has their form.  Those that read return -1 for a line that is not so,
 * and may have filled what they fill.
 */
#ifndef LAUNCHER_RUN_JOURNAL_LINE_H
#define LAUNCHER_RUN_JOURNAL_LINE_H

#include "launcher/run/failures.h"
#include "launcher/run/frame.h"

#include <jansson.h>

/* NULL: no memory. */
json_t *journal_line_head(int version,
                          const char *work,
                          char *const command[],
                          const char *text);
json_t *journal_line_slice(uint64_t frame, const char *node, struct piece *p);
json_t *journal_line_failed(uint64_t frame,
                            const char *node,
                            const struct piece *p);
json_t *journal_line_dropped(const struct kept *k);
json_t *journal_line_queued(const struct queued *q); /* or that it is gone */

int journal_line_read_slice(json_t *line, struct kept *k);
/* The files of a slice: mark has room for FILES_MAX.  Returns how many. */
int journal_line_read_marks(json_t *line, struct file_mark mark[]);
/* Does a slice, done or failed, tell of each of its tasks, of k's units, which are
 * read?  1, 0, or -1: not of as many.  Then read that; mark has room. */
int journal_line_has_tasks(const json_t *line, const struct kept *k);
int journal_line_read_tasks(const json_t *line,
                            const struct kept *k,
                            struct task_mark mark[]);
int journal_line_read_failed(json_t *line, struct kept *k, struct failure *f);
int journal_line_read_queued(json_t *line, struct queued *q);
int journal_line_read_gone(json_t *line, uint64_t *frame);
int journal_line_read_dropped(json_t *line, uint64_t *slice);

#endif
