/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_ahead.h - a few threads that open the files of a tree before home gets to
 * them, and have the kernel read them: where a file system is shared, a small file
 * takes longer to open than to send.
 *
 * They open files in the order of the content, so many and so many bytes before
 * the last one that was asked for.  A file that is asked for out of turn is opened
 * then.
 */
#ifndef PMIX_BCAST_TREE_AHEAD_H
#define PMIX_BCAST_TREE_AHEAD_H

#include "pmix_bcast/tree_index.h"

#define TREE_AHEAD_FILES 64u
#define TREE_AHEAD_BYTES (16u << 20)

struct tree_ahead;

/*
 *   t     its content stays as it is
 *   at    the byte of it from which on files are opened
 *   open  opens an entry, in any thread: a descriptor, or -1 with errno
 *
 * All must outlive it.  NULL: there is no memory, or no thread could be made.
 */
struct tree_ahead *tree_ahead_start(const struct tree_index *t,
                                    uint64_t at,
                                    int (*open)(void *arg, uint32_t entry),
                                    void *arg);
/* Open an entry that has content; the descriptor is the caller's.  -1 with errno. */
int tree_ahead_open(struct tree_ahead *a, uint32_t entry);
/* Waits for the threads; NULL is allowed. */
void tree_ahead_stop(struct tree_ahead *a);

#endif
