/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * left_files.h - the files of pieces that a run before has left, as a run that
 * resumes finds them: a piece that counts must have its own, and of one that does
 * not count any more nothing may stay among those of this run.
 *
 * Only what the journal's run has written is removed: an output that is as the
 * journal has it, a returned file that has the size and the time of then.
 */
#ifndef LAUNCHER_RUN_LEFT_FILES_H
#define LAUNCHER_RUN_LEFT_FILES_H

#include "launcher/run/journal.h"
#include "launcher/run/piece_files.h"

/* Show what was only kept; have pieces done again whose returned files are missing;
 * then remove the files of all that do not count.  To be called before the first
 * piece is sent.  0, or -1 and err filled. */
int left_files_settle(const struct piece_files *f,
                      struct journal *j,
                      struct es_error *err);

#endif
