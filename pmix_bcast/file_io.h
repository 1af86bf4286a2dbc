/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_io.h - bytes at their place in a file, all of them; and its time.
 *
 * All return 0 or an errno value, but for file_check_size().
 */
#ifndef PMIX_BCAST_FILE_IO_H
#define PMIX_BCAST_FILE_IO_H

#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>
#include <time.h>

int file_write_at(int fd, const void *bytes, size_t len, uint64_t at);
/* ENODATA if the file ends before. */
int file_read_at(int fd, void *bytes, size_t len, uint64_t at);
/* Has the file of this name, if it is a regular one, as many bytes as it says?  Those
 * of /proc and /sys do not.  0, or -1 with err. */
int file_check_size(const char *path, struct es_error *err);
/* For utimensat(2): the time of change alone, in ns since 1970, negative
 * before. */
void file_times(struct timespec times[2], int64_t mtime_ns);

#endif
