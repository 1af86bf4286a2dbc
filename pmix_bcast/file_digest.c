/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/file_digest.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK (256u << 10) /* bytes that are read at a time */

_Static_assert(FILE_DIGEST_BYTES == crypto_generichash_BYTES, "its own size");

struct file_digester {
    crypto_generichash_state state; /* which wants to be aligned */
};

int file_digest_is_known(const struct file_digest *d)
{
    return !sodium_is_zero(d->byte, sizeof d->byte);
}

int file_digest_is_equal(const struct file_digest *a,
                         const struct file_digest *b)
{
    return memcmp(a->byte, b->byte, sizeof a->byte) == 0;
}

void file_digest_to_hex(const struct file_digest *d, char hex[FILE_DIGEST_HEX])
{
    (void)sodium_bin2hex(hex, FILE_DIGEST_HEX, d->byte, sizeof d->byte);
}

int file_digest_from_hex(struct file_digest *d, const char *hex)
{
    size_t len, size = strlen(hex);

    if (size == FILE_DIGEST_HEX - 1
        && sodium_hex2bin(d->byte, sizeof d->byte, hex, size, NULL, &len, NULL)
               == 0
        && len == sizeof d->byte)
        return 0;
    *d = (struct file_digest){0};
    return -1;
}

struct file_digester *file_digester_create(void)
{
    struct file_digester *d =
        aligned_alloc(_Alignof(struct file_digester), sizeof *d);

    if (d)
        file_digester_restart(d);
    return d;
}

void file_digester_restart(struct file_digester *d)
{
    (void)crypto_generichash_init(&d->state, NULL, 0, FILE_DIGEST_BYTES);
}

void file_digester_add(struct file_digester *d, const void *bytes, size_t len)
{
    (void)crypto_generichash_update(&d->state, bytes, len);
}

struct file_digest file_digester_end(struct file_digester *d)
{
    struct file_digest sum;

    (void)crypto_generichash_final(&d->state, sum.byte, sizeof sum.byte);
    return sum;
}

void file_digester_destroy(struct file_digester *d)
{
    free(d);
}

int file_digest_of(struct file_digest *d, uint64_t *bytes, int fd)
{
    struct file_digester *sum = file_digester_create();
    void *block = malloc(BLOCK);
    ssize_t n = -1;

    *bytes = 0;
    errno = ENOMEM;
    while (sum && block && (n = pread(fd, block, BLOCK, (off_t)*bytes)) > 0) {
        file_digester_add(sum, block, (size_t)n);
        *bytes += (uint64_t)n;
    }
    if (n == 0)
        *d = file_digester_end(sum);
    file_digester_destroy(sum);
    free(block);
    return n == 0 ? 0 : -1;
}
