/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two libraries make the same bytes.  libsodium is there at once; libcrypto, twice
 * as fast with what is large and not encrypted, costs a process 1.4 ms when it is
 * begun: a start of 8 nodes took 10 ms longer.  As much is lost after 8 MB by
 * libsodium.
 */
#include "pmix_bcast/seal.h"

#include <errno.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define AEAD_NONCE_BYTES 12u
#define SMALL            4096u       /* bytes of head and body together */
#define LATER            (16u << 20) /* bytes of what is large, until then */

struct seal {
    uint8_t key[KEY_BYTES];
    EVP_CIPHER_CTX *cipher; /* NULL: nothing was large yet */
    uint64_t count;
    int encrypt;
};

struct seal *seal_create(const uint8_t key[KEY_BYTES], int encrypt)
{
    struct seal *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    memcpy(s->key, key, sizeof s->key);
    s->encrypt = encrypt;
    return s;
}

void seal_destroy(struct seal *s)
{
    int saved = errno;

    if (s) {
        EVP_CIPHER_CTX_free(s->cipher); /* which wipes its key */
        sodium_memzero(s->key, sizeof s->key);
    }
    free(s);
    errno = saved;
}

static void write_nonce(uint8_t nonce[AEAD_NONCE_BYTES], uint64_t number)
{
    memset(nonce, 0, AEAD_NONCE_BYTES);
    for (unsigned i = 0; i < 8; i++)
        nonce[4 + i] = (uint8_t)(number >> 8 * i);
}

/* --- small or early: libsodium ----------------------------------------------------- */

/* One message, and how it is sealed. */
struct message {
    uint64_t number;
    const uint8_t *head;
    size_t head_len;
    uint8_t *body;
    size_t len;
    int encrypt;
};

static int is_small(const struct message *m)
{
    return m->head_len <= SMALL && m->len <= SMALL - m->head_len;
}

/* Of all seals of this process; LATER: libcrypto is there. */
static atomic_size_t passed;

/* In one piece, and to be authenticated only. */
static int is_early(const struct message *m)
{
    return m->len == 0 && atomic_load(&passed) < LATER
           && atomic_fetch_add(&passed, m->head_len) < LATER;
}

static int is_sodiums(const struct message *m)
{
    return is_small(m) || is_early(m);
}

/* What is authenticated only, in one piece: put together in room if need be. */
static const uint8_t *aside_of(const struct message *m,
                               uint8_t room[SMALL],
                               size_t *len)
{
    *len = m->head_len;
    if (m->encrypt || m->len == 0)
        return *len > 0 ? m->head : room;
    if (*len > 0)
        memcpy(room, m->head, *len);
    memcpy(room + *len, m->body, m->len);
    *len += m->len;
    return room;
}

static void put_small(const struct seal *s,
                      const struct message *m,
                      uint8_t tag[TAG_BYTES])
{
    uint8_t room[SMALL], none[1] = {0}, nonce[AEAD_NONCE_BYTES];
    size_t aside_len;
    const uint8_t *aside = aside_of(m, room, &aside_len);
    int has_text = m->encrypt && m->len > 0;
    uint8_t *text = has_text ? m->body : none;

    write_nonce(nonce, m->number);
    /* It has no way to fail. */
    (void)crypto_aead_chacha20poly1305_ietf_encrypt_detached(
        text, tag, NULL, text, has_text ? m->len : 0, aside, aside_len, NULL,
        nonce, s->key);
}

static int get_small(const struct seal *s,
                     const struct message *m,
                     const uint8_t tag[TAG_BYTES])
{
    uint8_t room[SMALL], none[1] = {0}, nonce[AEAD_NONCE_BYTES];
    size_t aside_len;
    const uint8_t *aside = aside_of(m, room, &aside_len);
    int has_text = m->encrypt && m->len > 0;
    uint8_t *text = has_text ? m->body : none;

    write_nonce(nonce, m->number);
    return crypto_aead_chacha20poly1305_ietf_decrypt_detached(
        text, NULL, text, has_text ? m->len : 0, tag, aside, aside_len, nonce,
        s->key);
}

/* --- large: libcrypto ----------------------------------------------------- */

static int start_cipher(struct seal *s)
{
    if (s->cipher)
        return 0;
    atomic_store(&passed, LATER);
    /* Nothing of ours is set in openssl.cnf, which takes 1 ms more to read. */
    (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
    s->cipher = EVP_CIPHER_CTX_new();
    return s->cipher
                   && EVP_CipherInit_ex(s->cipher, EVP_chacha20_poly1305(),
                                        NULL, s->key, NULL, 1)
                          == 1
               ? 0
               : -1;
}

/* Begin the message of this number, one way (1) or the other (0). */
static int begin(struct seal *s, uint64_t number, int sealing)
{
    uint8_t nonce[AEAD_NONCE_BYTES];

    write_nonce(nonce, number);
    return start_cipher(s) == 0
                   && EVP_CipherInit_ex(s->cipher, NULL, NULL, NULL, nonce,
                                        sealing)
                          == 1
               ? 0
               : -1;
}

/* Additional data if out is NULL, else text from in to out. */
static int pass(struct seal *s, uint8_t *out, const uint8_t *in, size_t len)
{
    int n;

    if (len == 0)
        return 0;
    if (len > INT_MAX)
        return -1;
    return EVP_CipherUpdate(s->cipher, out, &n, in, (int)len) == 1 ? 0 : -1;
}

static int pass_all(struct seal *s, const struct message *m)
{
    if (pass(s, NULL, m->head, m->head_len) < 0)
        return -1;
    return pass(s, m->encrypt ? m->body : NULL, m->body, m->len);
}

static int take_tag(struct seal *s, uint8_t tag[TAG_BYTES])
{
    uint8_t none[1];
    int n;

    return EVP_CipherFinal_ex(s->cipher, none, &n) == 1
                   && EVP_CIPHER_CTX_ctrl(s->cipher, EVP_CTRL_AEAD_GET_TAG,
                                          TAG_BYTES, tag)
                          == 1
               ? 0
               : -1;
}

static int check_tag(struct seal *s, const uint8_t tag[TAG_BYTES])
{
    uint8_t none[1], want[TAG_BYTES];
    int n;

    for (unsigned i = 0; i < TAG_BYTES; i++)
        want[i] = tag[i]; /* libcrypto's argument is not const */
    return EVP_CIPHER_CTX_ctrl(s->cipher, EVP_CTRL_AEAD_SET_TAG, TAG_BYTES,
                               want)
                       == 1
                   && EVP_CipherFinal_ex(s->cipher, none, &n) == 1
               ? 0
               : -1;
}

/* --- public --------------------------------------------------------------- */

static int put(struct seal *s, const struct message *m, uint8_t tag[TAG_BYTES])
{
    if (is_sodiums(m)) {
        put_small(s, m, tag);
        return 0;
    }
    if (begin(s, m->number, 1) < 0 || pass_all(s, m) < 0)
        return -1;
    return take_tag(s, tag);
}

int seal_put(struct seal *s,
             const uint8_t *head,
             size_t head_len,
             uint8_t *body,
             size_t len,
             uint8_t tag[TAG_BYTES])
{
    const struct message m = {s->count++, head, head_len,
                              body,       len,  s->encrypt};

    return put(s, &m, tag);
}

int seal_get(struct seal *s,
             const uint8_t *head,
             size_t head_len,
             uint8_t *body,
             size_t len,
             const uint8_t tag[TAG_BYTES])
{
    const struct message m = {s->count++, head, head_len,
                              body,       len,  s->encrypt};

    if (is_sodiums(&m))
        return get_small(s, &m, tag);
    if (begin(s, m.number, 0) < 0 || pass_all(s, &m) < 0)
        return -1;
    return check_tag(s, tag);
}

int seal_tag(struct seal *s,
             uint64_t number,
             const uint8_t *bytes,
             size_t len,
             uint8_t tag[TAG_BYTES])
{
    const struct message m = {.number = number, .head = bytes, .head_len = len};

    return put(s, &m, tag);
}

int seal_check(struct seal *s,
               uint64_t number,
               const uint8_t *bytes,
               size_t len,
               const uint8_t tag[TAG_BYTES])
{
    uint8_t want[TAG_BYTES];

    if (seal_tag(s, number, bytes, len, want) < 0) {
        errno = ENOMEM;
        return -1;
    }
    errno = EBADMSG;
    return sodium_memcmp(want, tag, TAG_BYTES) == 0 ? 0 : -1;
}
