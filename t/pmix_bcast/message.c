/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/message.h"
#include "tap.h"

#define BOUND 1000u

static const struct {
    const char *name;
    uint8_t bytes[MESSAGE_HEAD];
} bad[] = {
    {"a wrong magic", {'E', 'V', 'S', '2', 0, 1, 0, 0, 0, 0, 0, 1}},
    {"garbage", {'G', 'E', 'T', ' ', '/', ' ', 'H', 'T', 'T', 'P', '/', '1'}},
    {"type 0", {'E', 'V', 'S', '1', 0, 0, 0, 0, 0, 0, 0, 1}},
    {"bytes that must be zero", {'E', 'V', 'S', '1', 0, 1, 0, 1, 0, 0, 0, 1}},
    {"a body over the bound",
     {'E', 'V', 'S', '1', 0, 1, 0, 0, 0, 0, 0x03, 0xe9}},
    {"a body of 4 GiB", {'E', 'V', 'S', '1', 0, 1, 0, 0, 255, 255, 255, 255}},
};

int main(void)
{
    struct message_head in = {MESSAGE_FREE + 5, BOUND}, out = {9, 9};
    uint8_t bytes[MESSAGE_HEAD];
    int early = 0;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        out = (struct message_head){9, 9};
        ok(message_decode(&out, bad[i].bytes, MESSAGE_HEAD, BOUND) == -1
               && out.type == 0 && out.length == 0,
           "%s is refused", bad[i].name);
    }
    message_encode(bytes, &in);
    is_int(message_decode(&out, bytes, sizeof bytes, BOUND), 1,
           "a body of just the bound is a message");
    ok(out.type == in.type && out.length == in.length, "and comes back whole");
    for (size_t len = 0; len < sizeof bytes; len++)
        early |= message_decode(&out, bytes, len, BOUND);
    is_int(early, 0, "every proper prefix asks for more");
    return done();
}
