/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * returned.h - the files of a piece that come back from a node, hidden until
 * the piece counts.
 */
#ifndef LAUNCHER_RUN_RETURNED_H
#define LAUNCHER_RUN_RETURNED_H

#include "launcher/wire/protocol.h"
#include "pmix_bcast/error.h"

#include <stddef.h>
#include <sys/stat.h>

struct hidden_file;

struct file_mark { /* by which a file is known again: as its writer left it */
    int64_t bytes;
    int64_t mtime_ns;
};

struct returned {             /* all zero: none */
    struct hidden_file *file; /* n, of which the last may still grow */
    uint32_t n;
    uint64_t bytes;         /* of the last */
    struct file_mark *mark; /* n_marks, once they are kept */
    uint32_t n_marks;
};

struct file_mark file_mark_of(const struct stat *st);

/* Do these bytes come next: of the last file, or first of the next one? */
int returned_follows(const struct returned *r, const struct msg_file *m);
/* Take them; name is what the file will be called.  Fails with ES_WORK. */
int returned_add(struct returned *r,
                 const struct msg_file *m,
                 const char *name,
                 struct es_error *err);
/* Put them on the disk, hidden, for hidden_file_recover(), and mark them.  -1 with
 * errno. */
int returned_keep(struct returned *r);
/* Mark a file that is there already.  Likewise. */
int returned_mark(struct returned *r, const char *name);
/* Give all their names; with sync they are on the disk then.  -1 with errno. */
int returned_show(struct returned *r, int sync);
void returned_clear(struct returned *r);

#endif
