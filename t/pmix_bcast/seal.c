/* SPDX-License-Identifier: BSD-2-Clause */
/* Against libsodium's AEAD_CHACHA20_POLY1305, another implementation. */
#include "pmix_bcast/seal.h"
#include "pmix_bcast/chunk_tag.h"
#include "tap.h"

#include <sodium.h>

#define LEN   9000u /* libcrypto's; SHORT is not */
#define SHORT 1000u

static uint8_t key[KEY_BYTES], head[12], text[LEN];

/* What libsodium makes of the message of this number. */
static void expected(uint64_t number,
                     int encrypt,
                     size_t len,
                     uint8_t out[LEN],
                     uint8_t tag[TAG_BYTES])
{
    uint8_t none[1], nonce[12] = {0}, all[sizeof head + LEN];

    for (unsigned i = 0; i < 8; i++)
        nonce[4 + i] = (uint8_t)(number >> 8 * i);
    memcpy(out, text, len);
    memcpy(all, head, sizeof head);
    memcpy(all + sizeof head, text, len);
    if (encrypt)
        crypto_aead_chacha20poly1305_ietf_encrypt_detached(
            out, tag, NULL, text, len, head, sizeof head, NULL, nonce, key);
    else
        crypto_aead_chacha20poly1305_ietf_encrypt_detached(
            none, tag, NULL, none, 0, all, sizeof head + len, NULL, nonce, key);
}

static void test_same(int encrypt, size_t len)
{
    struct seal *put = seal_create(key, encrypt),
                *get = seal_create(key, encrypt);
    uint8_t body[LEN], want[LEN], tag[TAG_BYTES], want_tag[TAG_BYTES];
    int same = 1, back = 1;

    if (!put || !get)
        bail("no seals");
    for (uint64_t n = 0; n < 300; n++) { /* more than a byte of the nonce */
        memcpy(body, text, len);
        expected(n, encrypt, len, want, want_tag);
        same &= seal_put(put, head, sizeof head, body, len, tag) == 0
                && memcmp(tag, want_tag, TAG_BYTES) == 0
                && memcmp(body, want, len) == 0;
        back &= seal_get(get, head, sizeof head, body, len, tag) == 0
                && memcmp(body, text, len) == 0;
    }
    ok(same, "300 messages of %zu bytes are what libsodium makes of them (%s)",
       len, encrypt ? "encrypted" : "readable");
    ok(back, "and come back");
    ok(seal_put(put, head, sizeof head, NULL, 0, tag) == 0
           && seal_get(get, head, sizeof head, NULL, 0, tag) == 0,
       "so does a message without a body");
    seal_destroy(put);
    seal_destroy(get);
}

/* The first ones of a process are made by libsodium, those behind 16 MB not: so
 * this comes first. */
static void test_early(void)
{
    struct seal *s = seal_create(key, 0);
    uint8_t none[1], nonce[12] = {0}, tag[TAG_BYTES], want[TAG_BYTES];
    unsigned n = (20u << 20) / LEN, same = 0, right = 0;

    if (!s)
        bail("no seal");
    for (unsigned i = 0; i < n; i++) {
        nonce[4] = (uint8_t)i;
        nonce[5] = (uint8_t)(i >> 8);
        crypto_aead_chacha20poly1305_ietf_encrypt_detached(
            none, want, NULL, none, 0, text, LEN, NULL, nonce, key);
        same += seal_tag(s, i, text, LEN, tag) == 0
                && memcmp(tag, want, sizeof tag) == 0;
        right += seal_check(s, i, text, LEN, want) == 0
                 && seal_check(s, i + 1, text, LEN, want) < 0;
    }
    ok(same == n && right == n,
       "tags are the same whichever library makes them");
    seal_destroy(s);
}

/* Each bit of head, body and tag, changed in turn. */
static void test_bits(int encrypt, size_t len, size_t step)
{
    static uint8_t all[sizeof head + LEN + TAG_BYTES];
    uint8_t *body = all + sizeof head;
    int taken = 0;

    for (size_t bit = 0; bit < 8 * (sizeof head + len + TAG_BYTES);
         bit += step) {
        struct seal *put = seal_create(key, encrypt);
        struct seal *get = seal_create(key, encrypt);

        memcpy(all, head, sizeof head);
        memcpy(body, text, len);
        if (!put || !get
            || seal_put(put, all, sizeof head, body, len, body + len) < 0)
            bail("no seal");
        all[bit / 8] ^= (uint8_t)(1 << bit % 8);
        taken += seal_get(get, all, sizeof head, body, len, body + len) == 0;
        seal_destroy(put);
        seal_destroy(get);
    }
    is_int(taken, 0, "with any bit changed it is refused");
}

static void test_chunks(void)
{
    struct secret s = {{1, 2, 3}, 0}, other = {{3, 2, 1}, 0};
    struct seal *one = chunk_tag_seal(&s, 1), *two = chunk_tag_seal(&s, 2);
    struct seal *foreign = chunk_tag_seal(&other, 1);
    struct chunk_tag tag[2];

    if (!one || !two || !foreign)
        bail("no seals");
    ok(seal_tag(one, 7, text, LEN, tag[0].bytes) == 0
           && seal_check(one, 7, text, LEN, tag[0].bytes) == 0,
       "a chunk is known by its tag, as often as one likes");
    is_int(seal_check(one, 8, text, LEN, tag[0].bytes), -1,
           "not as another chunk");
    is_int(seal_check(one, 7, text, LEN - 1, tag[0].bytes), -1, "nor shorter");
    is_int(seal_check(two, 7, text, LEN, tag[0].bytes), -1,
           "nor in another broadcast");
    is_int(seal_check(foreign, 7, text, LEN, tag[0].bytes), -1,
           "nor in another step");
    (void)seal_tag(one, 8, text, LEN, tag[1].bytes);
    ok(chunk_tag_sum(tag, 2) != chunk_tag_sum(tag, 1)
           && chunk_tag_sum(tag, 2) == chunk_tag_sum(tag, 2),
       "the sum of the tags says which they are");
    seal_destroy(one);
    seal_destroy(two);
    seal_destroy(foreign);
    seal_destroy(NULL);
}

int main(void)
{
    if (sodium_init() < 0)
        bail("no libsodium");
    for (size_t i = 0; i < LEN; i++)
        text[i] = (uint8_t)(i * 31);
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)(0x80 + i);
    memcpy(head, "twelve bytes", sizeof head);
    test_early();
    for (int encrypt = 0; encrypt <= 1; encrypt++) {
        test_same(encrypt, SHORT);
        test_same(encrypt, LEN);
        test_bits(encrypt, 40, 1);
        test_bits(encrypt, LEN, 97);
    }
    test_chunks();
    return done();
}
