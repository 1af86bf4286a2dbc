/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * object_id.h - is a file or folder the same one as another, which another
 * machine may have looked at?
 *
 * On one machine device and inode say so.  Between machines the device says
 * nothing, and the same inode of a file system that one of them has over the
 * network needs one thing more: the handle that its server gave it, or its time of
 * last change of status, to the nanosecond.  Either is enough: the server itself
 * has no such handle, and exports may differ in theirs; that time differs where
 * somebody changes it just then.  What both have on disks of their own is never the
 * same, so that nodes made of one image do not share it.
 */
#ifndef PMIX_BCAST_OBJECT_ID_H
#define PMIX_BCAST_OBJECT_ID_H

#include "pmix_bcast/bytes.h"

#define OBJECT_ID_BYTES 36u /* as encoded */

struct object_id {
    uint64_t dev, ino;
    uint64_t handle;  /* a digest of it; 0: none that other machines have */
    int64_t ctime_ns; /* 0: unknown */
    int is_local;     /* its file system has no other machine behind it */
};

/* What is open as fd, with O_PATH, too.  0, or an errno value. */
int object_id_of(struct object_id *id, int fd);
/* one_machine: both were looked at on the same, see object_id_machine(). */
int object_id_is_same(const struct object_id *a,
                      const struct object_id *b,
                      int one_machine);
/* What no other machine has, and this one until it boots again: containers on it
 * are one machine. */
uint64_t object_id_machine(void);

/* OBJECT_ID_BYTES each. */
void object_id_write(struct writer *w, const struct object_id *id);
struct object_id object_id_read(struct reader *r);

#endif
