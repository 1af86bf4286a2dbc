/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/wireup.h"
#include "tap.h"

static const char *const bad[] = {
    "",
    " ",
    "n0",
    "n0 10.0.0.1",
    "n0 10.0.0.1 ",
    "n0  1",
    " 10.0.0.1 1",
    "n0 10.0.0.1 0",
    "n0 10.0.0.1 65536",
    "n0 10.0.0.1 4294967297",
    "n0 a 1x",
    "n0 a -1",
    "n0 a +1",
    "n0 a 01",
    "n0 a 0x10",
    "n0 a  1",
    "n0 a 1 ",
    "n0 a 1 2",
    "n0 a 99999999999999999999",
    "n0 0123456789012345678901234567890123456789012345678901234567890123 1",
};

static void test_bad(void)
{
    static const struct endpoint zero;
    struct endpoint out;
    char longest[NODE_NAME_MAX + 20];

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memset(&out, 1, sizeof out);
        ok(endpoint_parse(&out, bad[i]) == -1
               && memcmp(&out, &zero, sizeof out) == 0,
           "\"%s\" is no endpoint", bad[i]);
    }
    memset(longest, 'n', NODE_NAME_MAX);
    memcpy(longest + NODE_NAME_MAX, " a 1", 5);
    is_int(endpoint_parse(&out, longest), -1, "a name too long is none");
    is_int(endpoint_parse(&out, longest + 1), 0, "one byte less is one");
}

int main(void)
{
    struct endpoint in = {"node-17.cluster", "10.1.2.3", 65535}, out;
    char text[ENDPOINT_TEXT_MAX];

    test_bad();
    endpoint_format(&in, text, sizeof text);
    is_str(text, "node-17.cluster 10.1.2.3 65535",
           "an endpoint is three words");
    ok(endpoint_parse(&out, text) == 0 && strcmp(out.node, in.node) == 0
           && strcmp(out.address, in.address) == 0 && out.port == in.port,
       "and comes back");
    ok(endpoint_parse(&out, "n0 ::1 1") == 0 && out.port == 1
           && strcmp(out.address, "::1") == 0,
       "so does one of the other family, at the first port");
    memset(in.node, 'n', sizeof in.node - 1);
    memset(in.address, '1', sizeof in.address - 1);
    endpoint_format(&in, text, sizeof text);
    ok(endpoint_parse(&out, text) == 0 && strcmp(out.node, in.node) == 0
           && strcmp(out.address, in.address) == 0 && out.port == in.port,
       "so does one of the longest names");
    return done();
}
