/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/handshake.h"
#include "pmix_bcast/bytes.h"
#include "tap.h"

#include <signal.h>
#include <sodium.h>

static const struct parties parties = {PURPOSE_MESH, 7, 9};

struct ends {
    struct handshake caller, listener;
    uint8_t hello[HELLO_BYTES], challenge[HANDSHAKE_MAX], proof[MAC_BYTES];
};

/* Go as far as the caller's proof; what caller_proof() said. */
static int shake(struct ends *e, const struct secret *c, const struct secret *l)
{
    handshake_call(&e->caller, c, &parties);
    handshake_listen(&e->listener, l, PURPOSE_MESH, 9);
    caller_hello(&e->caller, e->hello);
    if (listener_challenge(&e->listener, e->hello, e->challenge) < 0)
        bail("no challenge");
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
 * As Python's hmac and hashlib give it: HMAC-SHA-512 cut to 32 bytes
 * (libsodium's crypto_auth) and BLAKE2b, under keys that BLAKE2b derives from
 * the secret 00..1f as libsodium's crypto_kdf does; nonces 20..3f of the
 * caller, agent 7, and 40..5f of the listener, agent 9, for the mesh.
 */
static const char listener_mac[] =
    "e8391c8171fddb409379d855bdd2d7181300d70d305ecc1d8aa4d85242da78ad";
static const char caller_mac[] =
    "20c330c7dea6f6ec754447efe7f5c6b33da298dc4d330dd9e206d153b1b4d45d";
static const char keys[] =
    "f0ff858b2c4413b31f9495f8243899c16b7f3d6332fbd33d481576d6e0689cb8"
    "3458c1d8f5f1678aa2bf379e5f2e0767bfecaafa85c0c22dd1132a9323e6ded7";
static const char chunk_key[] =
    "afaaca064f57696f532e11191d5fb589b5e5fac21666c98f7a8a518d3fe18b68";

static void count_up(uint8_t *p, uint8_t from)
{
    for (uint8_t i = 0; i < 32; i++)
        p[i] = (uint8_t)(from + i);
}

static void test_vector(void)
{
    struct handshake caller, listener;
    uint8_t hello[HELLO_BYTES], challenge[HANDSHAKE_MAX], proof[MAC_BYTES];
    uint8_t key[KEY_BYTES];
    static const uint8_t head[12] = {0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0, 9};
    struct connection_keys k;
    struct secret s = {.encrypt = 0};
    char hex[2 * sizeof k + 1];

    count_up(s.key, 0);
    handshake_call(&caller, &s, &parties);
    handshake_listen(&listener, &s, PURPOSE_MESH, 9);
    count_up(caller.caller_nonce, 0x20);
    count_up(listener.listener_nonce, 0x40);
    caller_hello(&caller, hello);
    ok(memcmp(hello, head, sizeof head) == 0
           && memcmp(hello + 12, caller.caller_nonce, NONCE_BYTES) == 0,
       "a hello says what for, who and whom, and has the caller's nonce");
    is_int(listener_challenge(&listener, hello, challenge), 0,
           "the listener lets it on");
    ok(memcmp(challenge, listener.listener_nonce, NONCE_BYTES) == 0,
       "a challenge begins with the listener's nonce");
    sodium_bin2hex(hex, sizeof hex, challenge + NONCE_BYTES, MAC_BYTES);
    is_str(hex, listener_mac, "and ends with the listener's mac");
    is_int(caller_proof(&caller, challenge, proof), 0, "the caller takes it");
    sodium_bin2hex(hex, sizeof hex, proof, sizeof proof);
    is_str(hex, caller_mac, "a proof is the caller's mac, another one");
    is_int(listener_check(&listener, proof), 0, "the listener takes it");
    handshake_keys(&caller, &k);
    sodium_bin2hex(hex, sizeof hex, (uint8_t *)&k, sizeof k);
    is_str(hex, keys, "the caller has the connection's keys");
    handshake_keys(&listener, &k);
    sodium_bin2hex(hex, sizeof hex, (uint8_t *)&k, sizeof k);
    is_str(hex, keys, "and the listener the same");
    secret_chunk_key(&s, 3, key);
    sodium_bin2hex(hex, sizeof hex, key, sizeof key);
    is_str(hex, chunk_key, "a broadcast's chunks have a key of their own");
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
    for (size_t bit = 0; bit < 8 * sizeof e.hello; bit++) {
        e.hello[bit / 8] ^= (uint8_t)(1 << bit % 8);
        handshake_listen(&e.listener, s, PURPOSE_MESH, 9);
        taken += listener_challenge(&e.listener, e.hello, e.challenge) == 0
                 && caller_proof(&e.caller, e.challenge, out) == 0;
        e.hello[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    is_int(taken, 0, "a hello that was changed on its way is found out");
}

/* What passes on every message of a caller for one listener to another. */
static void test_relayed(const struct secret *s)
{
    static const struct {
        const char *name;
        struct parties meant;
        enum purpose purpose;
        uint32_t self;
        int taken;
    } relays[] = {
        {"its own",
         {PURPOSE_SESSION, 1, FRONT_END},
         PURPOSE_SESSION,
         FRONT_END,
         1},
        {"a call for the front end, at the caller's own mesh",
         {PURPOSE_SESSION, 1, FRONT_END},
         PURPOSE_MESH,
         1,
         0},
        {"a call for the front end, at another's mesh",
         {PURPOSE_SESSION, 1, FRONT_END},
         PURPOSE_MESH,
         2,
         0},
        {"a call for another agent", {PURPOSE_MESH, 1, 3}, PURPOSE_MESH, 2, 0},
        {"a call for home's chunks, at the session",
         {PURPOSE_BROADCAST, 1, FRONT_END},
         PURPOSE_SESSION,
         FRONT_END,
         0},
        {"a ring's call, at the mesh",
         {PURPOSE_RING, 1, 2},
         PURPOSE_MESH,
         2,
         0},
        {"a call of its own", {PURPOSE_MESH, 2, 2}, PURPOSE_MESH, 2, 0},
    };

    for (size_t i = 0; i < sizeof relays / sizeof relays[0]; i++) {
        struct ends e;
        int taken;

        handshake_call(&e.caller, s, &relays[i].meant);
        handshake_listen(&e.listener, s, relays[i].purpose, relays[i].self);
        caller_hello(&e.caller, e.hello);
        taken = listener_challenge(&e.listener, e.hello, e.challenge) == 0
                && caller_proof(&e.caller, e.challenge, e.proof) == 0
                && listener_check(&e.listener, e.proof) == 0;
        ok(taken == relays[i].taken, "%s is %s", relays[i].name,
           taken ? "taken" : "refused");
        /* Who writes the listener's purpose and name into it fails, too. */
        put_u32(e.hello, (uint32_t)relays[i].purpose);
        put_u32(e.hello + 8, relays[i].self);
        handshake_listen(&e.listener, s, relays[i].purpose, relays[i].self);
        taken = listener_challenge(&e.listener, e.hello, e.challenge) == 0
                && caller_proof(&e.caller, e.challenge, e.proof) == 0;
        ok(taken == relays[i].taken, "also with the names made right");
    }
}

static void test_encryption_agreed(const struct secret *s)
{
    struct secret hidden = *s;
    struct ends e;

    hidden.encrypt = 1;
    is_int(shake(&e, s, &hidden), -1,
           "nobody is talked out of encryption: both ends want it, or none");
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
    memcpy(e.challenge, e.hello + 12, NONCE_BYTES); /* the caller's nonce */
    memcpy(e.challenge + NONCE_BYTES, e.proof, MAC_BYTES);
    is_int(caller_proof(&e.caller, e.challenge, e.proof), -1,
           "the caller's own words sent back are refused");
    handshake_clear(&e.caller);
    ok(memcmp(&e.caller, zero, sizeof e.caller) == 0, "the secret is wiped");
}

int main(void)
{
    struct secret s, other;

    signal(SIGPIPE, SIG_IGN); /* as the programs do */
    if (secret_make(&s) < 0 || secret_make(&other) < 0)
        bail("no secret");
    test_secret();
    test_vector();
    test_bits(&s);
    test_shake(&s, &other);
    test_relayed(&s);
    test_encryption_agreed(&s);
    return done();
}
