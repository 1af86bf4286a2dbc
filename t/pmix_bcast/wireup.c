/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/wireup.h"
#include "pmix_bcast/wireup_way.h"
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

static void test_ways(void)
{
    for (enum wireup_way way = WIREUP_AUTO; way <= WIREUP_TCP; way++)
        is_int(wireup_way_find(wireup_way_name(way)), way,
               wireup_way_name(way));
    ok(wireup_way_find("") == -1 && wireup_way_find("TCP") == -1,
       "nothing else is a way to wire up");
}

/* The table of two agents; the second's name is longer than the first's. */
static struct writer a_table(void)
{
    const struct endpoint at[2] = {
        {.node = "n0", .address = "10.0.0.1", .port = 1, .door = 0},
        {.node = "node-1", .address = "10.0.0.2", .port = 65535, .door = 4000}};
    struct writer w = {0};

    wireup_write(&w, at, 2);
    return w;
}

static void test_table(void)
{
    struct wireup w = {.size = 2}, three = {.size = 3};
    struct writer t = a_table();
    size_t taken = 0;

    ok(wireup_take(&w, t.buf, t.len) == 0
           && strcmp(w.agent[1].node, "node-1") == 0
           && strcmp(w.agent[1].address, "10.0.0.2") == 0
           && w.agent[1].port == 65535 && w.agent[1].door == 4000
           && w.agent[0].door == 0,
       "a table comes back");
    wireup_clear(&w);
    ok(wireup_take(&three, t.buf, t.len) == -1 && !three.agent,
       "it is not that of three");
    w.size = 2;
    for (size_t len = 0; len < t.len; len++)
        taken += wireup_take(&w, t.buf, len) == 0;
    is_int((intmax_t)taken, 0, "nor is any of its beginnings one");
    write_u32(&t, 0);
    is_int(wireup_take(&w, t.buf, t.len), -1, "nor with something behind it");
    ok(!w.agent && w.size == 2, "and nothing is changed");
    t.buf[8] = ' '; /* where the first name begins */
    is_int(wireup_take(&w, t.buf, t.len - 4), -1,
           "nor with an agent that is none");
    writer_clear(&t);
}

int main(void)
{
    struct endpoint in = {.node = "node-17.cluster",
                          .address = "10.1.2.3",
                          .port = 65535,
                          .door = 0},
                    out;
    char text[ENDPOINT_TEXT_MAX];

    test_bad();
    test_ways();
    test_table();
    endpoint_format(&in, text, sizeof text);
    is_str(text, "node-17.cluster 10.1.2.3 65535",
           "an endpoint is three words");
    ok(endpoint_parse(&out, text) == 0 && strcmp(out.node, in.node) == 0
           && strcmp(out.address, in.address) == 0 && out.port == in.port,
       "and comes back");
    ok(endpoint_parse(&out, "n0 ::1 1") == 0 && out.port == 1
           && strcmp(out.address, "::1") == 0,
       "so does one of the other family, at the first port");
    ok(endpoint_parse(&out, "n0 a 9090") == 0 && out.port == 9090,
       "and a port that begins with the last digit");
    ok(endpoint_parse(&out, "n0 fe80::1%eth0 7 10.1.0.1/16,10000,0,hsn0") == 0
           && out.networks.n == 1 && out.networks.at[0].mbps == 10000
           && strcmp(out.networks.at[0].name, "hsn0") == 0,
       "its networks stand behind it");
    endpoint_format(&out, text, sizeof text);
    is_str(text, "n0 fe80::1%eth0 7 10.1.0.1/16,10000,0,hsn0", "and come back");
    is_int(endpoint_parse(&out, "n0 ::1 7 10.1.0.1/16"), -1,
           "a network that is none makes no endpoint");
    in.door = 65534;
    endpoint_format(&in, text, sizeof text);
    is_str(text, "node-17.cluster 10.1.2.3 65535/65534", "so does its door");
    ok(endpoint_parse(&out, text) == 0 && out.port == 65535
           && out.door == 65534,
       "and comes back");
    ok(endpoint_parse(&out, "n0 ::1 1/") < 0
           && endpoint_parse(&out, "n0 ::1 1/0") < 0
           && endpoint_parse(&out, "n0 ::1 1/65536") < 0
           && endpoint_parse(&out, "n0 ::1 1/2/3") < 0 && out.port == 0,
       "a door that is none makes no endpoint either");
    memset(in.node, 'n', sizeof in.node - 1);
    memset(in.address, '1', sizeof in.address - 1);
    endpoint_format(&in, text, sizeof text);
    ok(endpoint_parse(&out, text) == 0 && strcmp(out.node, in.node) == 0
           && strcmp(out.address, in.address) == 0 && out.port == in.port,
       "so does one of the longest names");
    return done();
}
