/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sysfs.h - the one-line files in which the kernel tells what a node has.
 */
#ifndef LAUNCHER_BASE_SYSFS_H
#define LAUNCHER_BASE_SYSFS_H

#include <stddef.h>
#include <stdint.h>

#define SYSFS_LINE 256  /* bytes of a line that anybody here wants, NUL too */
#define SYSFS_PATH 1024 /* bytes of a path, likewise */

/*
 * The first line of the file that fmt names, without its end; a longer one is
 * cut.  0, or -1 with errno (line is empty).
 */
int sysfs_read(char line[SYSFS_LINE], const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The non-negative decimal number that the file begins with.  0, or -1 if
 * there is none (*value untouched). */
int sysfs_read_u64(uint64_t *value, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* What follows "key" on the first line of a file such as /proc/meminfo that
 * begins with it.  0, or -1 if there is none (line is empty). */
int sysfs_find(char line[SYSFS_LINE], const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The number there, after blanks.  As above. */
int sysfs_find_u64(uint64_t *value, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The path that fmt makes.  0, or -1 with errno if it is too long. */
int sysfs_path(char path[SYSFS_PATH], const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
