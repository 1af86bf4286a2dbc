/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * room.h - has a file system the room for what is to come, beside what others were
 * promised of it before?
 *
 * A promise is not kept by the file system: what fallocate(2) has reserved is none,
 * as it is gone from what is free.
 */
#ifndef PMIX_BCAST_ROOM_H
#define PMIX_BCAST_ROOM_H

#include <stddef.h>
#include <stdint.h>

struct room_need {
    uint64_t device;        /* of the file system, see stat(2) */
    uint64_t blocks, files; /* blocks: of its own size */
};

struct room { /* all zero: a question; nothing was promised before */
    const struct room_need *before; /* n_before; the caller's */
    size_t n_before;
    struct room_need need;             /* what is promised now */
    uint64_t block;                    /* bytes */
    uint64_t lacks_bytes, lacks_files; /* after ENOSPC: so much more */
};

/* Begin to ask for room on the file system of a folder; then add each file that
 * comes, of so many bytes. */
void room_begin(struct room *r, int folder);
void room_add(struct room *r, uint64_t bytes);
/* Is it there, and that for so many files, too?  0 or ENOSPC.  A file system without a
 * limit, or which does not say, has it. */
int room_ask(struct room *r, int folder, uint64_t files);
/* After ENOSPC: how much is lacking, in words; "" if that was not asked for. */
void room_tell(const struct room *r, char *text, size_t size);

#endif
