/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/handshake.h"
#include "pmix_bcast/bytes.h"
#include "pmix_bcast/message.h"

#include <sodium.h>
#include <string.h>

/* Names of derived keys, for crypto_kdf; eight bytes each. */
#define CONNECTION_KDF "evs-conn"
#define CHUNK_KDF      "evs-chnk"

enum { KEY_A = 1, KEY_D = 2 }; /* of CONNECTION_KDF */

/* The text of AKEP2: a name of the protocol, what it is said for, then purpose,
 * encryption, both names and both nonces. */
static const char protocol[] = "evenstep/AKEP2/1";
#define NAME_BYTES (sizeof protocol - 1)
#define TEXT_BYTES (NAME_BYTES + 1 + 16 + 2 * NONCE_BYTES)

enum said { SAID_BY_LISTENER = 'L', SAID_BY_CALLER = 'C', SAID_FOR_KEYS = 'K' };

static void write_text_of(const struct handshake *h,
                          enum said said,
                          uint8_t text[])
{
    uint8_t *at = text + NAME_BYTES;

    memcpy(text, protocol, NAME_BYTES);
    *at++ = (uint8_t)said;
    put_u32(at, (uint32_t)h->parties.purpose);
    put_u32(at + 4, h->secret.encrypt);
    put_u32(at + 8, h->parties.caller);
    put_u32(at + 12, h->parties.callee);
    memcpy(at + 16, h->caller_nonce, NONCE_BYTES);
    memcpy(at + 16 + NONCE_BYTES, h->listener_nonce, NONCE_BYTES);
}

static void derive(uint8_t key[KEY_BYTES],
                   const struct secret *s,
                   const char *kdf,
                   uint64_t number)
{
    /* Fails only for lengths that are none of ours. */
    (void)crypto_kdf_derive_from_key(key, KEY_BYTES, number, kdf, s->key);
}

static void mac(uint8_t out[MAC_BYTES],
                const struct handshake *h,
                enum said said)
{
    uint8_t text[TEXT_BYTES], a[KEY_BYTES];

    write_text_of(h, said, text);
    derive(a, &h->secret, CONNECTION_KDF, KEY_A);
    crypto_auth(out, text, sizeof text, a);
    sodium_memzero(a, sizeof a);
}

int secret_make(struct secret *s)
{
    if (sodium_init() < 0)
        return -1;
    memset(s, 0, sizeof *s);
    randombytes_buf(s->key, sizeof s->key);
    return 0;
}

void secret_to_hex(const struct secret *s, char hex[SECRET_HEX_LEN + 1])
{
    sodium_bin2hex(hex, SECRET_HEX_LEN + 1, s->key, sizeof s->key);
}

int secret_from_hex(struct secret *s, const char *hex)
{
    struct secret read = {0};
    size_t len;

    if (sodium_init() < 0 || strlen(hex) != SECRET_HEX_LEN)
        return -1;
    if (sodium_hex2bin(read.key, sizeof read.key, hex, SECRET_HEX_LEN, NULL,
                       &len, NULL)
            < 0
        || len != sizeof read.key)
        return -1;
    *s = read;
    sodium_memzero(&read, sizeof read);
    return 0;
}

void secret_chunk_key(const struct secret *s,
                      uint32_t broadcast,
                      uint8_t key[KEY_BYTES])
{
    derive(key, s, CHUNK_KDF, broadcast);
}

void handshake_call(struct handshake *h,
                    const struct secret *s,
                    const struct parties *p)
{
    memset(h, 0, sizeof *h);
    h->stage = HANDSHAKE_CHALLENGE;
    h->secret = *s;
    h->parties = *p;
    randombytes_buf(h->caller_nonce, sizeof h->caller_nonce);
}

void handshake_listen(struct handshake *h,
                      const struct secret *s,
                      enum purpose purpose,
                      uint32_t self)
{
    memset(h, 0, sizeof *h);
    h->stage = HANDSHAKE_HELLO;
    h->secret = *s;
    h->parties = (struct parties){.purpose = purpose, .callee = self};
    randombytes_buf(h->listener_nonce, sizeof h->listener_nonce);
}

void handshake_clear(struct handshake *h)
{
    sodium_memzero(h, sizeof *h);
}

void caller_hello(const struct handshake *h, uint8_t out[HELLO_BYTES])
{
    put_u32(out, (uint32_t)h->parties.purpose);
    put_u32(out + 4, h->parties.caller);
    put_u32(out + 8, h->parties.callee);
    memcpy(out + 12, h->caller_nonce, NONCE_BYTES);
}

int listener_challenge(struct handshake *h,
                       const uint8_t body[HELLO_BYTES],
                       uint8_t out[HANDSHAKE_MAX])
{
    uint32_t caller = get_u32(body + 4);

    memset(out, 0, HANDSHAKE_MAX);
    if (get_u32(body) != (uint32_t)h->parties.purpose
        || get_u32(body + 8) != h->parties.callee
        || caller == h->parties.callee)
        return -1;
    h->parties.caller = caller;
    memcpy(h->caller_nonce, body + 12, NONCE_BYTES);
    memcpy(out, h->listener_nonce, NONCE_BYTES);
    mac(out + NONCE_BYTES, h, SAID_BY_LISTENER);
    return 0;
}

int caller_proof(struct handshake *h,
                 const uint8_t body[HANDSHAKE_MAX],
                 uint8_t out[MAC_BYTES])
{
    uint8_t want[MAC_BYTES];

    memcpy(h->listener_nonce, body, NONCE_BYTES);
    mac(want, h, SAID_BY_LISTENER);
    if (sodium_memcmp(want, body + NONCE_BYTES, MAC_BYTES) != 0) {
        memset(out, 0, MAC_BYTES);
        return -1;
    }
    mac(out, h, SAID_BY_CALLER);
    return 0;
}

int listener_check(const struct handshake *h, const uint8_t body[MAC_BYTES])
{
    uint8_t want[MAC_BYTES];

    mac(want, h, SAID_BY_CALLER);
    return sodium_memcmp(want, body, MAC_BYTES) == 0 ? 0 : -1;
}

int handshake_step(struct handshake *h,
                   uint16_t *type,
                   const uint8_t *body,
                   size_t len,
                   uint8_t out[HANDSHAKE_MAX],
                   size_t *n)
{
    *n = 0;
    if (h->stage == HANDSHAKE_HELLO && *type == MESSAGE_HELLO
        && len == HELLO_BYTES && listener_challenge(h, body, out) == 0) {
        h->stage = HANDSHAKE_PROOF;
        *type = MESSAGE_CHALLENGE;
        *n = HANDSHAKE_MAX;
        return 0;
    }
    if (h->stage == HANDSHAKE_CHALLENGE && *type == MESSAGE_CHALLENGE
        && len == HANDSHAKE_MAX && caller_proof(h, body, out) == 0) {
        h->stage = HANDSHAKE_DONE;
        *type = MESSAGE_PROOF;
        *n = MAC_BYTES;
        return 0;
    }
    if (h->stage == HANDSHAKE_PROOF && *type == MESSAGE_PROOF
        && len == MAC_BYTES && listener_check(h, body) == 0) {
        h->stage = HANDSHAKE_DONE;
        return 0;
    }
    return -1;
}

void handshake_keys(const struct handshake *h, struct connection_keys *k)
{
    uint8_t text[TEXT_BYTES], d[KEY_BYTES], both[2 * KEY_BYTES];

    write_text_of(h, SAID_FOR_KEYS, text);
    derive(d, &h->secret, CONNECTION_KDF, KEY_D);
    /* Fails only for lengths that are none of ours. */
    (void)crypto_generichash(both, sizeof both, text, sizeof text, d, sizeof d);
    memcpy(k->to_listener, both, KEY_BYTES);
    memcpy(k->to_caller, both + KEY_BYTES, KEY_BYTES);
    sodium_memzero(d, sizeof d);
    sodium_memzero(both, sizeof both);
}
