/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * piece_files.h - the files of a piece on the front end: its output, where that
 * is not gathered (--stdout), and what its command has made (--return).
 *
 * A file is there when the piece is done and counts, and not before.  With a
 * journal what it needs is on the disk before the journal says that the piece is
 * done, and shown afterwards: so a run that is killed in between shows no file
 * of a piece that will be done again, and cut otherwise.  work.c has what
 * a run that resumes does about those that are there.
 */
#ifndef LAUNCHER_RUN_PIECE_FILES_H
#define LAUNCHER_RUN_PIECE_FILES_H

#include "launcher/exec/file_name.h"
#include "launcher/run/frame.h"
#include "launcher/run/journal.h"
#include "launcher/run/run_options.h"

struct piece_files {
    const char *output;    /* template of the output's file; NULL: gathered */
    char *const *returned; /* of the others, n_returned */
    uint32_t n_returned;
    int here; /* those are made here, and need not come */
    int journaled;
    int sync; /* they are on the disk before it goes on */
};

/* Say if there are files of a run before beside those to come. */
void piece_files_open(struct piece_files *f, const struct run_options *o);
/* All is done: of what runs that were killed have kept nothing is needed. */
void piece_files_close(const struct piece_files *f);
/* Can a frame's label be in their names? */
int piece_files_frame(const struct piece_files *f,
                      const struct frame *frame,
                      struct es_error *err);
/* A piece is to come with files that are not here. */
int piece_files_come(const struct piece_files *f);
/* FILE of a piece.  0, -1 and err filled, or 1: it is not what comes next. */
int piece_files_take(const struct piece_files *f,
                     struct piece *p,
                     const char *node,
                     const struct msg_file *m,
                     struct es_error *err);
/* A piece is done: what the journal cannot hold is put on the disk, hidden ... */
int piece_files_keep(const struct piece_files *f,
                     const char *node,
                     struct piece *p,
                     struct es_error *err);
/* ... and when the journal has the piece, its files appear. */
int piece_files_show(const struct piece_files *f,
                     const char *node,
                     struct piece *p,
                     struct es_error *err);
/* What the files of a piece of a run before are called: n_returned that came back,
 * then its output; frame is NULL where it has no label. */
int piece_files_name(const struct piece_files *f,
                     uint32_t which,
                     const struct kept *k,
                     const struct frame *frame,
                     char name[FILE_NAME_MAX],
                     struct es_error *err);
/* What a run before has done of a frame: write again outputs that are missing, or
 * are others now. */
int piece_files_restore(const struct piece_files *f,
                        const struct frame *frame,
                        const struct journal *journal,
                        const struct kept kept[],
                        size_t n,
                        struct es_error *err);

#endif
