/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/wireup.h"
#include "tap.h"

static const char *const bad[] = {
    "",
    "n0",
    "n0 10.0.0.1",
    "n0 10.0.0.1 ",
    "n0  1",
    " 10.0.0.1 1",
    "n0 10.0.0.1 0",
    "n0 10.0.0.1 65536",
    "n0 a 1x",
    "n0 a -1",
    "n0 a 1 ",
    "n0 a 99999999999999999999",
    "n0 0123456789012345678901234567890123456789012345678901234567890123 1",
};

int main(void)
{
    struct endpoint in = {"node-17.cluster", "10.1.2.3", 65535}, out;
    char text[ENDPOINT_TEXT_MAX];

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memset(&out, 1, sizeof out);
        ok(endpoint_parse(&out, bad[i]) == -1 && out.node[0] == '\0'
               && out.port == 0,
           "\"%s\" is no endpoint", bad[i]);
    }
    endpoint_format(&in, text, sizeof text);
    is_str(text, "node-17.cluster 10.1.2.3 65535",
           "an endpoint is three words");
    ok(endpoint_parse(&out, text) == 0 && strcmp(out.node, in.node) == 0
           && strcmp(out.address, in.address) == 0 && out.port == in.port,
       "and comes back");
    memset(in.node, 'n', sizeof in.node - 1);
    memset(in.address, '1', sizeof in.address - 1);
    endpoint_format(&in, text, sizeof text);
    ok(endpoint_parse(&out, text) == 0 && strcmp(out.node, in.node) == 0
           && strcmp(out.address, in.address) == 0,
       "so does one of the longest names");
    return done();
}
