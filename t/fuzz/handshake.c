/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Somebody stands between two who know the secret, and changes what they say
 * to each other: a first byte of 0 lets the fuzzer speak to a listener alone,
 * in messages of a type, a length and bytes; else the rest is added, bit by
 * bit, to HELLO, CHALLENGE and PROOF.  With anything changed nobody gets in.
 */
#include "pmix_bcast/handshake.h"
#include "pmix_bcast/message.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct secret secret = {{1, 2, 3}, 0};

static void must(int holds)
{
    if (!holds)
        abort();
}

/* Nobody who does not know the secret gets in. */
static void strange(const uint8_t *data, size_t size)
{
    struct handshake h;
    uint8_t out[HANDSHAKE_MAX];

    handshake_listen(&h, &secret, PURPOSE_MESH, 2);
    while (size >= 2) {
        uint16_t type = data[0];
        size_t len = data[1] < size - 2 ? data[1] : size - 2, n;

        if (handshake_step(&h, &type, data + 2, len, out, &n) < 0)
            break;
        must(h.stage == HANDSHAKE_PROOF && n == HANDSHAKE_MAX);
        data += 2 + len;
        size -= 2 + len;
    }
    must(h.stage != HANDSHAKE_DONE);
    handshake_clear(&h);
}

struct changes {
    const uint8_t *data;
    size_t size;
    int any;
};

static void change(struct changes *c, uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len && c->size > 0; i++, c->data++, c->size--) {
        bytes[i] ^= *c->data;
        c->any |= *c->data != 0;
    }
}

static void between(struct changes c)
{
    static const struct parties parties = {PURPOSE_MESH, 1, 2};
    uint8_t hello[HELLO_BYTES], challenge[HANDSHAKE_MAX], proof[MAC_BYTES];
    struct connection_keys a, b;
    struct handshake caller, listener;

    handshake_call(&caller, &secret, &parties);
    handshake_listen(&listener, &secret, PURPOSE_MESH, 2);
    caller_hello(&caller, hello);
    change(&c, hello, sizeof hello);
    if (listener_challenge(&listener, hello, challenge) < 0) {
        must(c.any);
        return;
    }
    change(&c, challenge, sizeof challenge);
    must((caller_proof(&caller, challenge, proof) == 0) == !c.any);
    if (c.any)
        return;
    change(&c, proof, sizeof proof);
    must((listener_check(&listener, proof) == 0) == !c.any);
    handshake_keys(&caller, &a);
    handshake_keys(&listener, &b);
    must(memcmp(&a, &b, sizeof a) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] == 0)
        strange(data + 1, size - 1);
    else
        between((struct changes){data + 1, size - 1, 0});
    return 0;
}
