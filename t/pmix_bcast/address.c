/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/address.h"
#include "tap.h"

#include <netinet/in.h>
#include <string.h>

static const char *there_and_back(const char *text)
{
    static char back[ADDRESS_MAX];
    struct address a;

    if (address_parse(&a, text, 80) < 0)
        return "none";
    (void)address_format(back, (const struct sockaddr *)&a.at);
    return address_port((const struct sockaddr *)&a.at) == 80 ? back : "port";
}

static void test_text(void)
{
    is_str(there_and_back("10.1.2.3"), "10.1.2.3", "IPv4");
    is_str(there_and_back("fd00:0::1"), "fd00::1", "IPv6");
    is_str(there_and_back("::ffff:10.1.2.3"), "10.1.2.3",
           "IPv4 that is mapped");
    is_str(there_and_back("fe80::1%lo"), "fe80::1%lo", "a scope by its name");
    is_str(there_and_back("fe80::1%1"), "fe80::1%lo", "or its number");
    is_str(there_and_back("fe80::1%no-such"), "none", "which must be here");
    is_str(there_and_back("fe80::1%1x"), "none", "and nothing else");
    is_str(there_and_back("localhost"), "none", "a name is no address");
    is_str(there_and_back(""), "none", "nor is nothing");
    is_str(there_and_back("[::1]"), "none", "nor what has brackets");
}

static void test_ports(void)
{
    static const struct {
        const char *text, *address;
        int rc, port;
    } rows[] = {
        {"10.0.0.1:4000", "10.0.0.1", 0, 4000},
        {"[fe80::1%eth0]:65535", "fe80::1%eth0", 0, 65535},
        {":1", "", 0, 1},
        {"::1:4000", "", -1, 0},
        {"10.0.0.1:", "", -1, 0},
        {"10.0.0.1:0", "", -1, 0},
        {"10.0.0.1:65536", "", -1, 0},
        {"10.0.0.1:99999999999999999999", "", -1, 0},
        {"10.0.0.1:4x", "", -1, 0},
        {"10.0.0.1", "", -1, 0},
    };
    char address[ADDRESS_MAX], text[ADDRESS_PORT_MAX], much[ADDRESS_MAX + 9];
    uint16_t port;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ok(address_split(address, &port, rows[i].text) == rows[i].rc
               && strcmp(address, rows[i].address) == 0 && port == rows[i].port,
           "\"%s\" is \"%s\" and %d", rows[i].text, rows[i].address,
           rows[i].port);
        if (rows[i].rc == 0) {
            address_join(text, address, port);
            is_str(text, rows[i].text, "and back");
        }
    }
    memset(much, '1', sizeof much - 4);
    memcpy(much + sizeof much - 4, ":80", 4);
    is_int(address_split(address, &port, much), -1, "one that is too long");
}

static void test_loopback(void)
{
    struct address to, own;
    char text[ADDRESS_MAX];

    ok(address_loopback("127.0.1.1") == LOOPBACK_IPV4
           && address_loopback("::ffff:127.0.0.1") == LOOPBACK_IPV4
           && address_loopback("::1") == LOOPBACK_IPV6
           && address_loopback("10.0.0.1") == LOOPBACK_NO
           && address_loopback("fe80::1") == LOOPBACK_NO
           && address_loopback("localhost") == LOOPBACK_NO,
       "what leads to this machine only");
    (void)address_parse(&to, address_loopback_text(address_own_loopback()), 0);
    ok(address_towards(&own, &to) == 0
           && address_format(text, (const struct sockaddr *)&own.at) == 0
           && address_loopback(text) == address_own_loopback(),
       "we reach ourselves");
    ok(address_format(text, NULL) == -1 && text[0] == '\0',
       "no address has no text");
}

int main(void)
{
    test_text();
    test_ports();
    test_loopback();
    return done();
}
