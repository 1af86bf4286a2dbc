/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/handshake.h"
#include "tap.h"

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

static void test_secret(void)
{
    struct secret a, b, c;
    char hex[SECRET_HEX_LEN + 1];

    ok(secret_make(&a) == 0 && secret_make(&b) == 0
           && memcmp(&a, &b, sizeof a) != 0,
       "no two secrets are alike");
    secret_to_hex(&a, hex);
    is_int((intmax_t)strlen(hex), SECRET_HEX_LEN, "a secret is 64 digits");
    ok(secret_from_hex(&c, hex) == 0 && memcmp(&a, &c, sizeof a) == 0,
       "and comes back from them");
    hex[5] = 'g';
    is_int(secret_from_hex(&c, hex), -1, "a digit that is none is refused");
    hex[5] = '\0';
    is_int(secret_from_hex(&c, hex), -1, "too few digits are refused");
    is_int(secret_from_hex(&c, ""), -1, "no digit is refused");
}

static void test_shake(void)
{
    struct secret s, other;
    struct ends e, f;
    uint8_t reflected[MAC_BYTES];

    secret_make(&s);
    secret_make(&other);
    is_int(shake(&e, &s, &s), 0, "the caller believes a listener that knows");
    is_int(listener_check(&e.listener, e.proof), 0, "and the listener it");
    shake(&f, &s, &s);
    is_int(listener_check(&f.listener, e.proof), -1,
           "a proof of another connection is refused");
    is_int(caller_proof(&f.caller, e.challenge, f.proof), -1,
           "a challenge of another connection is refused");
    memcpy(reflected, e.challenge + NONCE_BYTES, MAC_BYTES);
    is_int(listener_check(&e.listener, reflected), -1,
           "the listener's own answer sent back is refused");
    e.proof[31] ^= 1;
    is_int(listener_check(&e.listener, e.proof), -1,
           "one wrong bit is refused");
    is_int(shake(&e, &s, &other), -1,
           "a listener with another secret is refused");
    ok(e.proof[0] == 0 && e.proof[31] == 0, "and gets no proof");
    handshake_clear(&e.caller);
    ok(e.caller.secret.key[0] == 0 && e.caller.secret.key[31] == 0,
       "the secret is wiped");
}

int main(void)
{
    test_secret();
    test_shake();
    return done();
}
