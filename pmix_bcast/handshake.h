/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handshake.h - both ends of a connection prove that they know the step's
 * secret, without sending it (design, section 11).  Pure but for the nonces.
 *
 *   caller  -> listener   HELLO      nonce_c                        32 bytes
 *   listener -> caller    CHALLENGE  nonce_l, mac(L, nonce_c, nonce_l)  64
 *   caller  -> listener   PROOF      mac(C, nonce_l, nonce_c)           32
 *
 * mac is libsodium's crypto_auth (HMAC-SHA-512-256) under the secret, over a
 * 16-byte name of the role and the two nonces; the roles' names differ, so an
 * answer of one role cannot be played back as the other's.  Everything of
 * another size is refused before it is read.
 */
#ifndef PMIX_BCAST_HANDSHAKE_H
#define PMIX_BCAST_HANDSHAKE_H

#include <stddef.h>
#include <stdint.h>

#define SECRET_BYTES   32u /* crypto_auth_KEYBYTES */
#define NONCE_BYTES    32u
#define MAC_BYTES      32u /* crypto_auth_BYTES */
#define HANDSHAKE_MAX  (NONCE_BYTES + MAC_BYTES)
#define SECRET_HEX_LEN (2 * SECRET_BYTES) /* as text, without the NUL */

struct secret {
    uint8_t key[SECRET_BYTES];
};

enum handshake_stage {
    HANDSHAKE_CHALLENGE, /* the caller waits for it */
    HANDSHAKE_HELLO,     /* the listener waits for it */
    HANDSHAKE_PROOF,     /* the listener waits for it */
    HANDSHAKE_DONE,
};

struct handshake {
    enum handshake_stage stage; /* used by handshake_step() only */
    struct secret secret;
    uint8_t mine[NONCE_BYTES], theirs[NONCE_BYTES];
};

/* A fresh secret from the kernel's random numbers; 0, or -1 if libsodium
 * cannot start. */
int secret_make(struct secret *s);
void secret_to_hex(const struct secret *s, char hex[SECRET_HEX_LEN + 1]);
/* 0, or -1 if hex is not exactly SECRET_HEX_LEN hexadecimal digits. */
int secret_from_hex(struct secret *s, const char *hex);

void handshake_init(struct handshake *h, const struct secret *s);
/* Wipe the secret; the struct may then be forgotten. */
void handshake_clear(struct handshake *h);

/*
 * The steps, each named by who does it.  out is what to send next; body is
 * what came, already known to have the right size.  The checking steps
 * return 0 if the other end knows the secret, else -1 (out is then zeroed).
 */
void caller_hello(const struct handshake *h, uint8_t out[NONCE_BYTES]);
void listener_challenge(struct handshake *h,
                        const uint8_t body[NONCE_BYTES],
                        uint8_t out[HANDSHAKE_MAX]);
int caller_proof(struct handshake *h,
                 const uint8_t body[HANDSHAKE_MAX],
                 uint8_t out[MAC_BYTES]);
int listener_check(const struct handshake *h, const uint8_t body[MAC_BYTES]);

/*
 * One step of the whole: a message of this type has come, at h->stage.  Says
 * what to send, of what type, n bytes of out (0: nothing), and moves the
 * stage on; at HANDSHAKE_DONE the other end knows the secret and messages may
 * follow.  -1 if it is not what is due, or proves nothing.
 */
int handshake_step(struct handshake *h,
                   uint16_t *type,
                   const uint8_t *body,
                   size_t len,
                   uint8_t out[HANDSHAKE_MAX],
                   size_t *n);

#endif
