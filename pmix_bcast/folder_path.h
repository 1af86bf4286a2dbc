/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * folder_path.h - the way from a folder down to another one, and the folders in
 * each that are still to be visited: to go through a tree of any depth without
 * calls within calls, and with a bounded number of descriptors.
 *
 * Of folders far down only the innermost is open; ".." leads back.
 *
 * All that return int return 0 or an errno value.
 */
#ifndef PMIX_BCAST_FOLDER_PATH_H
#define PMIX_BCAST_FOLDER_PATH_H

#include <stddef.h>
#include <sys/types.h>

struct folder_level {
    int fd; /* -1: closed, until it is the innermost again */
    dev_t dev;
    ino_t ino;
    char *names; /* owned: those to visit, each with its NUL */
    size_t len, size, next;
    const char *now; /* the one that is visited; NULL: none is */
};

struct folder_path { /* begin with {0} */
    struct folder_level *level;
    size_t n, size;
};

/* Open folders as this does; others may want to be like it. */
#define FOLDER_OPEN (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* The folder is the innermost now; it is taken over, on failure, too. */
int folder_path_enter(struct folder_path *p, int fd);
/* Leave the innermost.  ESTALE: the one above it is not where it was. */
int folder_path_leave(struct folder_path *p);
/* The innermost: what it has open, and a folder in it that is to be visited. */
int folder_path_fd(const struct folder_path *p);
int folder_path_add(struct folder_path *p, const char *name);
/* The next of those, which is visited now; NULL: there is none.  And that one
 * again, until the next is asked for. */
const char *folder_path_next(struct folder_path *p);
const char *folder_path_now(const struct folder_path *p);
void folder_path_clear(struct folder_path *p);

#endif
