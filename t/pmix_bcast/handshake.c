/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/handshake.h"
#include "tap.h"

#include <sodium.h>

struct ends {
    struct handshake caller, listener;
    uint8_t hello[NONCE_BYTES], challenge[HANDSHAKE_MAX], proof[MAC_BYTES];
};

/* Go as far as the caller's proof; what caller_proof() said. */
static int shake(struct ends *e, const struct secret *c, const struct secret *l)
{
    handshake_init(&e->caller, c);
    handshake_init(&e->listener, l);
    caller_hello(&e->caller, e->hello);
    listener_challenge(&e->listener, e->hello, e->challenge);
    return caller_proof(&e->caller, e->challenge, e->proof);
}

static const struct {
    const char *name, *hex;
} bad_hex[] = {
    {"no digit", ""},
    {"one digit too few",
     "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1"},
    {"one digit too many",
     "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f0"},
    {"a letter that is no digit",
     "0001020304050607g8090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"},
    {"a blank between digits",
     "00010203 4050607080 90a0b0c0d0e0f101112131415161718191a1b1c1d1e1"},
    {"a colon between digits",
     "00:01:02:03:04:05:06:07:08:09:0a:0b:0c:0d:0e:0f:10:11:12:13:14:1"},
    {"0x before them",
     "0x0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"},
    {"a blank as the last",
     "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1 "},
};

static void test_secret(void)
{
    struct secret a, b, c;
    char hex[SECRET_HEX_LEN + 1];
    int kept = 1;

    memset(&b, 0x5a, sizeof b);
    for (size_t i = 0; i < sizeof bad_hex / sizeof bad_hex[0]; i++) {
        c = b;
        is_int(secret_from_hex(&c, bad_hex[i].hex), -1, bad_hex[i].name);
        kept &= memcmp(&c, &b, sizeof c) == 0;
    }
    ok(kept, "a text that is no secret leaves the secret as it was");
    ok(secret_make(&a) == 0 && secret_make(&b) == 0
           && memcmp(&a, &b, sizeof a) != 0,
       "no two secrets are alike");
    secret_to_hex(&a, hex);
    is_int((intmax_t)strlen(hex), SECRET_HEX_LEN, "a secret is 64 digits");
    ok(strspn(hex, "0123456789abcdef") == SECRET_HEX_LEN, "all of them hex");
    ok(secret_from_hex(&c, hex) == 0 && memcmp(&a, &c, sizeof a) == 0,
       "and comes back from them");
}

/*
 * HMAC-SHA-512 cut to 32 bytes (libsodium's crypto_auth) under the key
 * 00..1f, nonces 20..3f of the caller and 40..5f of the listener, as Python's
 * hmac module gives it.
 */
static const char listener_mac[] =
    "c79f151d7118d02b74d6230644ca202ea02a350f72dfcca2e12f9dd22719b821";
static const char caller_mac[] =
    "3cab9ec152839f37c704ec6c204c6c77e9c638370d44689d183d36b19da6c475";

static void count_up(uint8_t *p, uint8_t from)
{
    for (uint8_t i = 0; i < 32; i++)
        p[i] = (uint8_t)(from + i);
}

static void test_vector(void)
{
    struct handshake caller, listener;
    uint8_t hello[NONCE_BYTES], challenge[HANDSHAKE_MAX], proof[MAC_BYTES];
    struct secret s;
    char hex[2 * MAC_BYTES + 1];

    count_up(s.key, 0);
    handshake_init(&caller, &s);
    handshake_init(&listener, &s);
    count_up(caller.mine, 0x20);
    count_up(listener.mine, 0x40);
    caller_hello(&caller, hello);
    ok(memcmp(hello, caller.mine, sizeof hello) == 0,
       "a hello is the caller's nonce");
    listener_challenge(&listener, hello, challenge);
    ok(memcmp(challenge, listener.mine, NONCE_BYTES) == 0,
       "a challenge begins with the listener's nonce");
    sodium_bin2hex(hex, sizeof hex, challenge + NONCE_BYTES, MAC_BYTES);
    is_str(hex, listener_mac, "and ends with the listener's mac");
    is_int(caller_proof(&caller, challenge, proof), 0, "the caller takes it");
    sodium_bin2hex(hex, sizeof hex, proof, sizeof proof);
    is_str(hex, caller_mac, "a proof is the caller's mac, another one");
    is_int(listener_check(&listener, proof), 0, "the listener takes it");
}

/* Each bit of what is sent, changed in turn. */
static void test_bits(const struct secret *s)
{
    struct ends e;
    uint8_t out[MAC_BYTES];
    int taken = 0;

    shake(&e, s, s);
    for (size_t bit = 0; bit < 8 * sizeof e.challenge; bit++) {
        e.challenge[bit / 8] ^= (uint8_t)(1 << bit % 8);
        taken += caller_proof(&e.caller, e.challenge, out) == 0;
        e.challenge[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    is_int(taken, 0, "a challenge with any bit changed is refused");
    for (size_t bit = 0; bit < 8 * sizeof e.proof; bit++) {
        e.proof[bit / 8] ^= (uint8_t)(1 << bit % 8);
        taken += listener_check(&e.listener, e.proof) == 0;
        e.proof[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    is_int(taken, 0, "a proof with any bit changed is refused");
    is_int(listener_check(&e.listener, e.proof), 0, "unchanged it is taken");
    e.hello[0] ^= 1;
    listener_challenge(&e.listener, e.hello, e.challenge);
    is_int(caller_proof(&e.caller, e.challenge, out), -1,
           "a hello that was changed on its way is found out");
}

static void test_shake(const struct secret *s, const struct secret *other)
{
    struct ends e, f;
    uint8_t reflected[MAC_BYTES], zero[sizeof(struct handshake)] = {0};

    is_int(shake(&e, s, other), -1,
           "a listener with another secret is refused");
    ok(memcmp(e.proof, zero, sizeof e.proof) == 0, "and gets no proof");
    is_int(shake(&e, s, s), 0, "the caller believes a listener that knows");
    is_int(listener_check(&e.listener, e.proof), 0, "and the listener it");
    shake(&f, s, s);
    ok(memcmp(e.hello, f.hello, sizeof e.hello) != 0
           && memcmp(e.challenge, f.challenge, sizeof e.challenge) != 0,
       "no two connections say the same");
    is_int(listener_check(&f.listener, e.proof), -1,
           "a proof of another connection is refused");
    is_int(caller_proof(&f.caller, e.challenge, f.proof), -1,
           "a challenge of another connection is refused");
    memcpy(reflected, e.challenge + NONCE_BYTES, MAC_BYTES);
    is_int(listener_check(&e.listener, reflected), -1,
           "the listener's own answer sent back is refused");
    shake(&e, s, s);
    memcpy(e.challenge, e.hello, NONCE_BYTES); /* the caller's own nonce */
    memcpy(e.challenge + NONCE_BYTES, e.proof, MAC_BYTES);
    is_int(caller_proof(&e.caller, e.challenge, e.proof), -1,
           "the caller's own words sent back are refused");
    handshake_clear(&e.caller);
    ok(memcmp(&e.caller, zero, sizeof e.caller) == 0, "the secret is wiped");
}

int main(void)
{
    struct secret s, other;

    if (secret_make(&s) < 0 || secret_make(&other) < 0)
        bail("no secret");
    test_secret();
    test_vector();
    test_bits(&s);
    test_shake(&s, &other);
    return done();
}
