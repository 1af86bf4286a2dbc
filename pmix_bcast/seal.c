/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/seal.h"

#include <errno.h>
#include <limits.h>
#include <openssl/evp.h>
#include <sodium.h>
#include <stdlib.h>

#define AEAD_NONCE_BYTES 12u

struct seal {
    EVP_CIPHER_CTX *cipher;
    uint64_t count;
    int encrypt;
};

struct seal *seal_create(const uint8_t key[KEY_BYTES], int encrypt)
{
    struct seal *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->encrypt = encrypt;
    s->cipher = EVP_CIPHER_CTX_new();
    if (!s->cipher
        || EVP_CipherInit_ex(s->cipher, EVP_chacha20_poly1305(), NULL, key,
                             NULL, 1)
               != 1) {
        seal_destroy(s);
        return NULL;
    }
    return s;
}

void seal_destroy(struct seal *s)
{
    int saved = errno;

    if (s)
        EVP_CIPHER_CTX_free(s->cipher); /* which wipes the key */
    free(s);
    errno = saved;
}

/* Begin the message of this number, one way (1) or the other (0). */
static int begin(struct seal *s, uint64_t number, int sealing)
{
    uint8_t nonce[AEAD_NONCE_BYTES] = {0};

    for (unsigned i = 0; i < 8; i++)
        nonce[4 + i] = (uint8_t)(number >> 8 * i);
    return EVP_CipherInit_ex(s->cipher, NULL, NULL, NULL, nonce, sealing) == 1
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

static int pass_all(struct seal *s,
                    const uint8_t *head,
                    size_t head_len,
                    uint8_t *body,
                    size_t len)
{
    if (pass(s, NULL, head, head_len) < 0)
        return -1;
    return pass(s, s->encrypt ? body : NULL, body, len);
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

int seal_put(struct seal *s,
             const uint8_t *head,
             size_t head_len,
             uint8_t *body,
             size_t len,
             uint8_t tag[TAG_BYTES])
{
    if (begin(s, s->count++, 1) < 0 || pass_all(s, head, head_len, body, len))
        return -1;
    return take_tag(s, tag);
}

int seal_get(struct seal *s,
             const uint8_t *head,
             size_t head_len,
             uint8_t *body,
             size_t len,
             const uint8_t tag[TAG_BYTES])
{
    if (begin(s, s->count++, 0) < 0 || pass_all(s, head, head_len, body, len))
        return -1;
    return check_tag(s, tag);
}

int seal_tag(struct seal *s,
             uint64_t number,
             const uint8_t *bytes,
             size_t len,
             uint8_t tag[TAG_BYTES])
{
    if (begin(s, number, 1) < 0 || pass(s, NULL, bytes, len) < 0)
        return -1;
    return take_tag(s, tag);
}

int seal_check(struct seal *s,
               uint64_t number,
               const uint8_t *bytes,
               size_t len,
               const uint8_t tag[TAG_BYTES])
{
    uint8_t want[TAG_BYTES];

    if (seal_tag(s, number, bytes, len, want) < 0)
        return -1;
    return sodium_memcmp(want, tag, TAG_BYTES) == 0 ? 0 : -1;
}
