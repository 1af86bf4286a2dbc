/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spool.h - the output of one slice, kept until its turn comes: in memory at
 * first, beyond SPOOL_MEMORY in a file without a name, which goes away even if
 * this process is killed.
 */
#ifndef LAUNCHER_BASE_SPOOL_H
#define LAUNCHER_BASE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

/* Bytes for one slice.  16,384 slices take up to 16 GiB, if all print so much.
 */
#define SPOOL_MEMORY (1u << 20)

struct spool { /* all zero is an empty one */
    char *text;
    size_t len, cap;
    int fd;      /* of the file; 0: there is none */
    uint64_t in; /* bytes in the file */
};

/* Add bytes.  0, or -1 with errno; what was added before stays readable. */
int spool_add(struct spool *s, const void *bytes, size_t len);
/* Write all of it to fd.  0, or -1 with errno. */
int spool_write_to(struct spool *s, int fd);
uint64_t spool_size(const struct spool *s); /* bytes in all */
/* Read len bytes from offset `at` on; at + len is at most spool_size().  0, or
 * -1 with errno. */
int spool_read(const struct spool *s, uint64_t at, void *bytes, size_t len);
/* Only the first so many bytes, at most spool_size(), stay. */
void spool_cut(struct spool *s, uint64_t size);
void spool_clear(struct spool *s);
/* What mends it where bytes could not be added for that error. */
const char *spool_mend(int error);

/* Open a new file without a name, in TMPDIR or else /tmp; -1 with errno. */
int spool_open_file(void);
/* Call write(2) until all is written; waits if fd does not block.  0, or -1
 * with errno. */
int write_all(int fd, const void *bytes, size_t len);

#endif
