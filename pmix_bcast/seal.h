/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seal.h - what goes over a connection after its handshake is sealed: nobody
 * without its keys can change, forge, drop, repeat or reorder it unnoticed,
 * and with encryption nobody can read its bytes either.
 *
 * It is AEAD_CHACHA20_POLY1305 of RFC 8439.  The nonce is four zero bytes and
 * a number, little-endian: of what is sent one way on a connection a counter
 * from 0, of the chunks of a broadcast the chunk's.  Without encryption the
 * bytes are all "additional data", so that Poly1305 reads them once and that
 * is all.
 *
 * Chunks are libcrypto's, not libsodium's: it takes 72 KiB at 12 GB/s instead
 * of 3.3, as fast as a plain checksum (XXH3; EPYC with AVX-512, 2026-11), and
 * each byte of a broadcast is checked on each node.
 */
#ifndef PMIX_BCAST_SEAL_H
#define PMIX_BCAST_SEAL_H

#include "pmix_bcast/handshake.h"

#include <stddef.h>
#include <stdint.h>

#define TAG_BYTES 16u

struct seal; /* one direction of a connection, or a broadcast's chunks */

/* NULL if memory ran out.  The key is copied. */
struct seal *seal_create(const uint8_t key[KEY_BYTES], int encrypt);
void seal_destroy(struct seal *s);

/*
 * Seal the next of this direction: head stays readable, body (which may be
 * NULL for 0 bytes) is encrypted in place where that is asked for.  tag is
 * sent with it.  0, or -1 if libcrypto fails.
 */
int seal_put(struct seal *s,
             const uint8_t *head,
             size_t head_len,
             uint8_t *body,
             size_t len,
             uint8_t tag[TAG_BYTES]);
/* The other end: 0 and the body is readable; -1 if it is not what was sent,
 * or not the next. */
int seal_get(struct seal *s,
             const uint8_t *head,
             size_t head_len,
             uint8_t *body,
             size_t len,
             const uint8_t tag[TAG_BYTES]);

/* The tag of these bytes under this number, which must never stand for
 * others: it is what nobody else can make.  0, or -1 if libcrypto fails. */
int seal_tag(struct seal *s,
             uint64_t number,
             const uint8_t *bytes,
             size_t len,
             uint8_t tag[TAG_BYTES]);
/* 0, or -1 with errno: EBADMSG if tag is not theirs, ENOMEM if libcrypto
 * fails. */
int seal_check(struct seal *s,
               uint64_t number,
               const uint8_t *bytes,
               size_t len,
               const uint8_t tag[TAG_BYTES]);

#endif
