/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spool.h - what one slice has printed so far, kept until its turn comes: in
 * memory at first, beyond SPOOL_MEMORY in a file without a name that is gone
 * whatever happens to us.
 */
#ifndef LAUNCHER_BASE_SPOOL_H
#define LAUNCHER_BASE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

/* Bytes a slice; 16,384 slices are 16 GiB, reached only if all print that
 * much. */
#define SPOOL_MEMORY (1u << 20)

struct spool { /* all zero is an empty one */
    char *text;
    size_t len, cap;
    int fd;      /* of the file, 0 for none */
    uint64_t in; /* bytes in the file */
};

/* Add bytes.  0, or -1 with errno; what was there before stays readable. */
int spool_add(struct spool *s, const void *bytes, size_t len);
/* Write all of it to fd.  0, or -1 with errno. */
int spool_write_to(struct spool *s, int fd);
uint64_t spool_size(const struct spool *s); /* bytes in all */
/* Read len bytes from at on, which are all there.  0, or -1 with errno. */
int spool_read(const struct spool *s, uint64_t at, void *bytes, size_t len);
void spool_clear(struct spool *s);

/* A new file without a name, in TMPDIR; -1 with errno. */
int spool_open_file(void);
/* write(2) until all is written. */
int write_all(int fd, const void *bytes, size_t len);

#endif
