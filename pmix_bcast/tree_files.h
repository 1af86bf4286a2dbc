/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_files.h - the files of a tree that are open at the moment: a bounded
 * number, of those that were used last.
 */
#ifndef PMIX_BCAST_TREE_FILES_H
#define PMIX_BCAST_TREE_FILES_H

#include "pmix_bcast/tree_index.h"

#define TREE_OPEN_MAX 32u

struct tree_files {
    const struct tree_index *index;
    /* A descriptor, or -1 with errno set. */
    int (*open)(void *arg, uint32_t entry);
    void *arg;
    struct tree_open {
        uint32_t entry; /* 0: none */
        int fd;
        uint64_t used;
    } slot[TREE_OPEN_MAX];
    uint64_t clock;
};

/* The file's descriptor, which is valid until the next call; or -1 with errno
 * set. */
int tree_files_get(struct tree_files *f, uint32_t entry);
/* Read the content's bytes from at on.  0, or an errno value: ENODATA if a file
 * is shorter than the index says; *entry is then the file's. */
int tree_files_read(struct tree_files *f,
                    uint8_t *bytes,
                    size_t len,
                    uint64_t at,
                    uint32_t *entry);
void tree_files_clear(struct tree_files *f);

#endif
