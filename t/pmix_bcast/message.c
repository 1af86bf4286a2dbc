/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/message.h"
#include "tap.h"

#define BOUND 1000u

static const struct {
    const char *name;
    uint8_t bytes[MESSAGE_HEAD];
} bad[] = {
    {"a wrong magic", {'E', 'V', 'S', '1', 0, 1, 0, 0, 0, 0, 0, 1}},
    {"garbage", {'G', 'E', 'T', ' ', '/', ' ', 'H', 'T', 'T', 'P', '/', '1'}},
    {"type 0", {'E', 'V', 'S', '2', 0, 0, 0, 0, 0, 0, 0, 1}},
    {"bytes that must be zero", {'E', 'V', 'S', '2', 0, 1, 0, 1, 0, 0, 0, 1}},
    {"a body over the bound",
     {'E', 'V', 'S', '2', 0, 1, 0, 0, 0, 0, 0x03, 0xe9}},
    {"a body of 4 GiB", {'E', 'V', 'S', '2', 0, 1, 0, 0, 255, 255, 255, 255}},
};

static void test_bad(void)
{
    struct message_head out;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        out = (struct message_head){9, 9};
        ok(message_decode(&out, bad[i].bytes, MESSAGE_HEAD, BOUND) == -1
               && out.type == 0 && out.length == 0,
           "%s is refused", bad[i].name);
    }
}

/* Every value of every byte that has but one right value. */
static void test_fixed_bytes(void)
{
    static const uint8_t whole[MESSAGE_HEAD] = {'E', 'V', 'S', '2', 0, 16,
                                                0,   0,   0,   0,   0, 0};
    static const size_t fixed[] = {0, 1, 2, 3, 6, 7};
    struct message_head out;
    uint8_t bytes[MESSAGE_HEAD];
    int taken = 0;

    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        for (int v = 0; v < 256; v++) {
            memcpy(bytes, whole, sizeof bytes);
            bytes[fixed[i]] = (uint8_t)v;
            taken += message_decode(&out, bytes, sizeof bytes, BOUND) == 1;
        }
    is_int(taken, 6, "magic and zero have one value each");
    is_int(message_decode(&out, whole, sizeof whole, 0), 1,
           "an empty body is within any bound");
}

static void test_round_trip(void)
{
    static const uint8_t want[MESSAGE_HEAD] = {
        'E', 'V', 'S', '2', 0x12, 0x34, 0, 0, 0x00, 0x01, 0x02, 0x03};
    struct message_head in = {0x1234, 0x010203}, out = {9, 9};
    uint8_t bytes[MESSAGE_HEAD + 3] = {0};
    int early = 0;

    message_encode(bytes, &in);
    ok(memcmp(bytes, want, sizeof want) == 0, "a head is big-endian");
    ok(message_decode(&out, bytes, sizeof bytes, MESSAGE_BODY_MAX) == 1
           && out.type == in.type && out.length == in.length,
       "and comes back, whatever is behind it");
    in = (struct message_head){UINT16_MAX, BOUND};
    message_encode(bytes, &in);
    is_int(message_decode(&out, bytes, MESSAGE_HEAD, BOUND), 1,
           "a body of just the bound is a message");
    ok(out.type == in.type && out.length == in.length, "of the last type");
    is_int(message_decode(&out, bytes, MESSAGE_HEAD, BOUND - 1), -1,
           "under a bound of one less it is not");
    for (size_t len = 0; len < MESSAGE_HEAD; len++)
        early |= message_decode(&out, bytes, len, BOUND);
    is_int(early, 0, "every proper prefix asks for more");
}

int main(void)
{
    test_bad();
    test_fixed_bytes();
    test_round_trip();
    return done();
}
