/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_digest.h - a file in 32 bytes: its BLAKE2b (RFC 7693).  Nobody can make
 * another file with the same one.
 *
 * XXH3-64, which chunks and lines have, finds only what a disk or a wire has
 * changed by mistake.
 */
#ifndef PMIX_BCAST_FILE_DIGEST_H
#define PMIX_BCAST_FILE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define FILE_DIGEST_BYTES 32u /* crypto_generichash_BYTES */
#define FILE_DIGEST_HEX   65u /* as text, with its NUL */

struct file_digest {
    uint8_t byte[FILE_DIGEST_BYTES]; /* all zero: not known */
};

int file_digest_is_known(const struct file_digest *d);
int file_digest_is_equal(const struct file_digest *a,
                         const struct file_digest *b);
void file_digest_to_hex(const struct file_digest *d, char hex[FILE_DIGEST_HEX]);
/* 0, or -1 if the text is none. */
int file_digest_from_hex(struct file_digest *d, const char *hex);
/* Of all of an open file, and how many bytes it has; 0, or -1 with errno. */
int file_digest_of(struct file_digest *d, uint64_t *bytes, int fd);

/* --- of what comes bit by bit --------------------------------------------- */

struct file_digester;

/* NULL if memory ran out. */
struct file_digester *file_digester_create(void);
void file_digester_add(struct file_digester *d, const void *bytes, size_t len);
/* Once, of all that was added; after that another one may begin. */
struct file_digest file_digester_end(struct file_digester *d);
void file_digester_restart(struct file_digester *d);
void file_digester_destroy(struct file_digester *d); /* NULL is allowed */

#endif
