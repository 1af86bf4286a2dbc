/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sysfs.h - reads the small text files of /sys and /proc.
 */
#ifndef LAUNCHER_BASE_SYSFS_H
#define LAUNCHER_BASE_SYSFS_H

#include <stddef.h>
#include <stdint.h>

#define SYSFS_LINE 256  /* bytes of a line, with its NUL */
#define SYSFS_PATH 1024 /* bytes of a path, with its NUL */

/*
 * Read the first line of the file that fmt names, without its newline; a line
 * that is too long is cut.  0, or -1 with errno (line is empty).
 */
int sysfs_read(char line[SYSFS_LINE], const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Read the decimal number that the file begins with.  0, or -1 if there is none
 * (*value untouched). */
int sysfs_read_u64(uint64_t *value, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Find the first line that begins with key, as in /proc/meminfo, and return
 * what follows the key.  0, or -1 if there is none (line is empty). */
int sysfs_find(char line[SYSFS_LINE], const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The number that follows the key and blanks.  As sysfs_read_u64(). */
int sysfs_find_u64(uint64_t *value, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Print a path by fmt.  0, or -1 with errno if it is too long. */
int sysfs_path(char path[SYSFS_PATH], const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
