/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handshake.h - both ends of a connection prove that they know the step's
 * secret, without sending it, and agree on what the connection is for, on who
 * they are and on its keys.  Pure but for the nonces.
 *
 *   caller   -> listener  HELLO      purpose u32, caller u32, callee u32,
 *                                    nonce_c                           44 bytes
 *   listener -> caller    CHALLENGE  nonce_l, mac(a, "L", all of it)   64
 *   caller   -> listener  PROOF      mac(a, "C", all of it)            32
 *
 * It is AKEP2 of M. Bellare and P. Rogaway, "Entity Authentication and Key
 * Distribution", CRYPTO '93, section 5: its text is the two names and the two
 * nonces, here with the connection's purpose and whether it is encrypted in
 * front.  "All of it" is that text.  The secret gives two keys, a for the
 * macs and d for the connection's own keys, one a direction, which are a
 * pseudo-random function under d of the same text.
 *
 * Who passes a handshake on to another listener, or to another kind of
 * listener, passes on names or a purpose that are not those of that one: it
 * refuses.  Roles differ in the macs, so that none can be played back.  There
 * is no Diffie-Hellman exchange in it: who learns the secret later can read
 * what was recorded.  X25519 would cost each end 70 us, and 23 nodes that
 * connect to each other 40 ms of one core (2026-11, EPYC).
 *
 * mac is libsodium's crypto_auth (HMAC-SHA-512-256); a and d are derived by
 * crypto_kdf, the pseudo-random function is keyed BLAKE2b.  Everything of
 * another size is refused before it is read.
 */
#ifndef PMIX_BCAST_HANDSHAKE_H
#define PMIX_BCAST_HANDSHAKE_H

#include <stddef.h>
#include <stdint.h>

#define SECRET_BYTES   32u /* crypto_auth_KEYBYTES */
#define KEY_BYTES      32u
#define NONCE_BYTES    32u
#define MAC_BYTES      32u /* crypto_auth_BYTES */
#define HELLO_BYTES    (12u + NONCE_BYTES)
#define HANDSHAKE_MAX  (NONCE_BYTES + MAC_BYTES)
#define SECRET_HEX_LEN (2 * SECRET_BYTES) /* as text, without the NUL */

#define FRONT_END UINT32_MAX /* its name; that of an agent is its rank */

/* What a step's connections go by. */
struct secret {
    uint8_t key[SECRET_BYTES];
    uint32_t encrypt; /* 0 or 1: nobody else can read what is sent */
};

/* What a connection is for.  Never 0. */
enum purpose {
    PURPOSE_SESSION = 1,   /* an agent calls its front end */
    PURPOSE_MESH = 2,      /* see mesh.h */
    PURPOSE_BROADCAST = 3, /* an agent calls home for chunks */
    PURPOSE_RING = 4,      /* measures the way from one agent to another */
    PURPOSE_TABLE = 5,     /* the endpoints go down a tree of the agents */
    PURPOSE_RECALL = 6, /* a front end calls an agent that has waited for it */
    PURPOSE_JOIN = 7,   /* somebody asks a front end to take nodes in */
};

struct parties {
    enum purpose purpose;
    uint32_t caller, callee;
};

struct connection_keys {
    uint8_t to_listener[KEY_BYTES], to_caller[KEY_BYTES];
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
    struct parties parties; /* a listener's caller is proved when it is DONE */
    uint8_t caller_nonce[NONCE_BYTES], listener_nonce[NONCE_BYTES];
};

/* A fresh secret from the kernel's random numbers, without encryption; 0, or
 * -1 if libsodium cannot start. */
int secret_make(struct secret *s);
void secret_to_hex(const struct secret *s, char hex[SECRET_HEX_LEN + 1]);
/* 0, or -1 if hex is not exactly SECRET_HEX_LEN hexadecimal digits. */
int secret_from_hex(struct secret *s, const char *hex);
/* The key by which the chunks of a broadcast are told from forged ones.  A
 * step gives each broadcast another number. */
void secret_chunk_key(const struct secret *s,
                      uint32_t broadcast,
                      uint8_t key[KEY_BYTES]);

/* The caller's end; it waits for CHALLENGE. */
void handshake_call(struct handshake *h,
                    const struct secret *s,
                    const struct parties *p);
/* The listener's end; it is there for one purpose, and waits for HELLO. */
void handshake_listen(struct handshake *h,
                      const struct secret *s,
                      enum purpose purpose,
                      uint32_t self);
/* Wipe the secret; the struct may then be forgotten. */
void handshake_clear(struct handshake *h);

/*
 * The steps, each named by who does it.  out is what to send next; body is
 * what came, already known to have the right size.  The checking steps
 * return 0 if the other end may go on, else -1 (out is then zeroed): a HELLO
 * must be for us and from another, the macs must be right.
 */
void caller_hello(const struct handshake *h, uint8_t out[HELLO_BYTES]);
int listener_challenge(struct handshake *h,
                       const uint8_t body[HELLO_BYTES],
                       uint8_t out[HANDSHAKE_MAX]);
int caller_proof(struct handshake *h,
                 const uint8_t body[HANDSHAKE_MAX],
                 uint8_t out[MAC_BYTES]);
int listener_check(const struct handshake *h, const uint8_t body[MAC_BYTES]);

/*
 * One step of the whole: a message of this type has come, at h->stage.  Says
 * what to send, of what type, n bytes of out (0: nothing), and moves the
 * stage on; at HANDSHAKE_DONE the other end knows the secret and messages may
 * follow, under handshake_keys().  -1 if it is not what is due, is not for us,
 * or proves nothing.
 */
int handshake_step(struct handshake *h,
                   uint16_t *type,
                   const uint8_t *body,
                   size_t len,
                   uint8_t out[HANDSHAKE_MAX],
                   size_t *n);
/* The same at both ends once it is DONE; wipe them after use. */
void handshake_keys(const struct handshake *h, struct connection_keys *k);

#endif
