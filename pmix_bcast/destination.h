/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * destination.h - the file that a broadcast makes on a node: without a name, or
 * where the file system cannot have that beside under a name of its own, until
 * it is whole, so that it is never half-visible.
 */
#ifndef PMIX_BCAST_DESTINATION_H
#define PMIX_BCAST_DESTINATION_H

#include "pmix_bcast/huge_map.h"
#include "pmix_bcast/room.h"
#include "pmix_bcast/target.h"

#include <stddef.h>
#include <stdint.h>

struct destination {
    int fd; /* -1: not open */
    struct target target;
    char part[64]; /* its name in the folder; "" if it has none, or its last */
    int force;
    int keep; /* see destination_keep() */
    int flow; /* what is written goes on its way to the disk at once */
    int old;  /* a file in memory that has been replaced, held until the end:
                 freeing it takes time, 2 ms for 12 MB, that nobody is to wait
                 for.  (NFS would give one that is held another name first.)  -1 */
    struct huge_map map; /* of a file in memory */
};

#define DESTINATION_CLOSED                                                     \
    (struct destination)                                                       \
    {                                                                          \
        .fd = -1, .old = -1, .target = {.folder = -1 }                         \
    }

/*
 * Begin a file of so many bytes at an absolute path, with the room for it
 * reserved where the file system can.  With force what is there will be
 * replaced, else it is EEXIST; a folder is EISDIR either way.  The room is asked for
 * beside what room says was promised before (NULL: nothing), and what it says then
 * is promised until the file is written.  All return 0, or an errno value.
 */
int destination_open(struct destination *d,
                     const char *path,
                     uint64_t bytes,
                     int force,
                     struct room *room);
/* What is finished is to be on the disk, and its name, too: call it before
 * anything is written.  A file in memory has no such thing. */
void destination_keep(struct destination *d);
/* Where to put these bytes before they are written, so that destination_write()
 * need not copy them.  Valid until the file is finished or closed.  NULL: it must. */
uint8_t *destination_place(const struct destination *d,
                           size_t len,
                           uint64_t at);
/* Where that may be, without making it ready, which takes time: that may be done
 * in several threads at once, while the file is open.  NULL: there is none. */
uint8_t *destination_find(const struct destination *d, size_t len, uint64_t at);
int destination_write(struct destination *d,
                      const void *bytes,
                      size_t len,
                      uint64_t at);
/* Give it its mode, its time of change (NULL: now; ns since 1970, negative
 * before), and its name.  The file stays open for reading. */
int destination_finish(struct destination *d,
                       unsigned mode,
                       const int64_t *mtime_ns);
/* Close; what is not finished is removed. */
void destination_close(struct destination *d);

#endif
