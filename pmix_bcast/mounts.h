/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mounts.h - what is mounted where: a mount of the same file system (--bind) is
 * seen, too, as /proc tells it.  Without /proc only another device is.
 */
#ifndef PMIX_BCAST_MOUNTS_H
#define PMIX_BCAST_MOUNTS_H

#include <stddef.h>

/* Is what was opened by its name in a folder (O_PATH is enough) on another mount
 * than that? */
int mounts_differ(int folder, int fd);
/* Is something mounted on that name? */
int mounts_is_point(int folder, const char *name);
/* Is something mounted within the folder, at any depth?  Then path gets where,
 * from the folder on; it is cut to size. */
int mounts_within(int folder, char *path, size_t size);

#endif
