/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/handshake.h"
#include "pmix_bcast/message.h"

#include <sodium.h>
#include <string.h>

#define ROLE_BYTES 16u

static const uint8_t listener_role[ROLE_BYTES] = "evenstep listen";
static const uint8_t caller_role[ROLE_BYTES] = "evenstep caller";

static void mac(uint8_t out[MAC_BYTES],
                const struct secret *s,
                const uint8_t role[ROLE_BYTES],
                const uint8_t first[NONCE_BYTES],
                const uint8_t second[NONCE_BYTES])
{
    uint8_t text[ROLE_BYTES + 2 * NONCE_BYTES];

    memcpy(text, role, ROLE_BYTES);
    memcpy(text + ROLE_BYTES, first, NONCE_BYTES);
    memcpy(text + ROLE_BYTES + NONCE_BYTES, second, NONCE_BYTES);
    crypto_auth(out, text, sizeof text, s->key);
}

int secret_make(struct secret *s)
{
    if (sodium_init() < 0)
        return -1;
    randombytes_buf(s->key, sizeof s->key);
    return 0;
}

void secret_to_hex(const struct secret *s, char hex[SECRET_HEX_LEN + 1])
{
    sodium_bin2hex(hex, SECRET_HEX_LEN + 1, s->key, sizeof s->key);
}

int secret_from_hex(struct secret *s, const char *hex)
{
    struct secret read;
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

void handshake_init(struct handshake *h, const struct secret *s)
{
    memset(h, 0, sizeof *h);
    h->secret = *s;
    randombytes_buf(h->mine, sizeof h->mine);
}

void handshake_clear(struct handshake *h)
{
    sodium_memzero(h, sizeof *h);
}

void caller_hello(const struct handshake *h, uint8_t out[NONCE_BYTES])
{
    memcpy(out, h->mine, NONCE_BYTES);
}

void listener_challenge(struct handshake *h,
                        const uint8_t body[NONCE_BYTES],
                        uint8_t out[HANDSHAKE_MAX])
{
    memcpy(h->theirs, body, NONCE_BYTES);
    memcpy(out, h->mine, NONCE_BYTES);
    mac(out + NONCE_BYTES, &h->secret, listener_role, h->theirs, h->mine);
}

int caller_proof(struct handshake *h,
                 const uint8_t body[HANDSHAKE_MAX],
                 uint8_t out[MAC_BYTES])
{
    uint8_t want[MAC_BYTES];

    memcpy(h->theirs, body, NONCE_BYTES);
    mac(want, &h->secret, listener_role, h->mine, h->theirs);
    if (sodium_memcmp(want, body + NONCE_BYTES, MAC_BYTES) != 0) {
        memset(out, 0, MAC_BYTES);
        return -1;
    }
    mac(out, &h->secret, caller_role, h->theirs, h->mine);
    return 0;
}

int listener_check(const struct handshake *h, const uint8_t body[MAC_BYTES])
{
    uint8_t want[MAC_BYTES];

    mac(want, &h->secret, caller_role, h->mine, h->theirs);
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
        && len == NONCE_BYTES) {
        listener_challenge(h, body, out);
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
