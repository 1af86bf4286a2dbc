/* SPDX-License-Identifier: BSD-2-Clause */
/* Which network two nodes talk by, and what they tell of theirs. */
#include "pmix_bcast/network.h"
#include "pmix_bcast/route.h"
#include "tap.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static struct network net(const char *ip,
                          unsigned prefix,
                          uint32_t mbps,
                          unsigned place,
                          const char *name)
{
    struct network n = {.prefix =
                            (uint8_t)(strchr(ip, ':') ? prefix : prefix + 96),
                        .place = (uint8_t)place,
                        .mbps = mbps};
    struct address a;

    if (address_parse(&a, ip, 0) == 0)
        (void)address_bytes(n.ip, (const struct sockaddr *)&a.at);
    snprintf(n.name, sizeof n.name, "%s", name);
    return n;
}

static void add(struct networks *all,
                const char *ip,
                unsigned prefix,
                uint32_t mbps,
                unsigned place,
                const char *name)
{
    struct network n = net(ip, prefix, mbps, place, name);

    networks_add(all, &n);
}

static void test_lists(void)
{
    static const char *const good[] = {"", "ib0", "ib0,hsn*,10.1.0.0/16",
                                       "fd00:12::/64, eth?", "10.0.0.0/0"};
    static const char *const bad[] = {
        "10.1.0.0/33", "a-name-of-17-bytes", "10.1/16", "fd00::/129",
        "::1",         "10.1.0.0/-1",        "/",       "fe80::%lo/64"};
    char longest[NETWORK_LIST_MAX + 1];
    struct network at = net("10.1.2.3", 16, 0, 0, "hsn1");
    struct network six = net("fd00:12::3", 64, 0, 0, "eth0");

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ok(network_list_check(good[i]) == 0, "\"%s\" is a list", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(network_list_check(bad[i]) == -1, "\"%s\" is none", bad[i]);
    memset(longest, ',', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    is_int(network_list_check(longest), -1, "nor is what is too long");
    is_int(network_place("ib0,hsn*,10.1.0.0/16", at.name, at.ip), 1,
           "a name by a pattern");
    is_int(network_place("ib0,10.1.0.0/16,hsn*", at.name, at.ip), 1,
           "an address by its network");
    is_int(network_place("10.1.2.0/30", at.name, at.ip), 0,
           "whose bits need not be whole bytes");
    is_int(network_place("10.1.2.4/30,hsn?x", at.name, at.ip), -1,
           "but must be the same");
    is_int(network_place("ib0, fd00:12::/64", six.name, six.ip), 1,
           "IPv6, too");
    is_int(network_place("0.0.0.0/0", six.name, six.ip), -1,
           "all of IPv4 is not IPv6");
    is_int(network_place("", at.name, at.ip), -1, "nothing names nothing");
}

static void test_own(void)
{
    struct networks all = {0};

    add(&all, "10.0.0.1", 16, 1000, 1, "eth0");
    add(&all, "10.1.0.1", 16, 10000, 2, "hsn0");
    add(&all, "10.2.0.1", 16, 1000, 0, "ib0");
    ok(all.n == 3 && strcmp(all.at[0].name, "hsn0") == 0
           && strcmp(all.at[1].name, "ib0") == 0
           && strcmp(all.at[2].name, "eth0") == 0,
       "the fastest first, of equal ones as the list has them");
    add(&all, "10.1.0.2", 16, 10000, 2, "hsn0");
    is_int(all.n, 3, "a second address of an interface is not needed");
    add(&all, "fe80::1", 64, 10000, 2, "hsn0");
    is_int(all.n, 3, "nor is a link-local one");
    add(&all, "fd00::1", 64, 10000, 2, "hsn0");
    ok(all.n == 4 && strcmp(all.at[1].name, "hsn0") == 0,
       "of the other family it is");
    add(&all, "fe80::2", 64, 5000, 3, "usb0");
    is_int(all.n, 5, "a link-local one alone, too");
    add(&all, "10.5.0.1", 16, 5000, 3, "usb0");
    ok(all.n == 5 && strcmp(all.at[2].name, "usb0") == 0 && all.at[2].ip[10],
       "until there is a better one");
    add(&all, "10.6.0.1", 16, 1, 9, "slow6");
    add(&all, "10.7.0.1", 16, 1, 9, "slow7");
    ok(all.n == NETWORKS_MAX
           && strcmp(all.at[NETWORKS_MAX - 1].name, "slow6") == 0,
       "the first of the slowest stays");
    add(&all, "10.8.0.1", 16, 90000, 9, "fast");
    ok(all.n == NETWORKS_MAX && strcmp(all.at[0].name, "fast") == 0
           && strcmp(all.at[NETWORKS_MAX - 1].name, "slow6") != 0,
       "and gives way to a faster one");
}

static const char *common(const struct networks *a,
                          const struct networks *b,
                          unsigned rail)
{
    const struct network *here, *there;
    static char text[2 * ADDRESS_MAX];
    char address[ADDRESS_MAX];
    struct address at;

    if (networks_common(a, b, rail, &here, &there) < 0)
        return "none";
    network_address(&at, there, 7, 4000);
    if (at.at.ss_family == AF_INET6) /* the scope that was asked for */
        address_of_bytes(&at, there->ip, 0, 4000);
    (void)address_format(address, (const struct sockaddr *)&at.at);
    snprintf(text, sizeof text, "%s to %s", here->name, address);
    return text;
}

static void test_pairs(void)
{
    struct networks a = {0}, b = {0}, c = {0}, none = {0};

    add(&a, "10.1.0.1", 16, 10000, 0, "hsn0");
    add(&a, "10.2.0.1", 16, 10000, 1, "hsn1");
    add(&a, "10.3.0.1", 16, 1000, 2, "eth1");
    add(&b, "10.1.0.2", 16, 2000, 0, "hsn0");
    add(&b, "10.2.0.2", 16, 10000, 1, "hsn1");
    add(&b, "10.3.0.2", 16, 40000, 2, "eth1");
    is_str(common(&a, &b, 0), "hsn1 to 10.2.0.2",
           "the fastest that both are in, the slower end counts");
    is_str(common(&b, &a, 0), "hsn1 to 10.2.0.1", "either way");
    is_str(common(&a, &b, 1), "hsn0 to 10.1.0.2", "the next is a second rail");
    is_str(common(&a, &b, 2), "eth1 to 10.3.0.2", "and a third");
    is_str(common(&a, &b, 3), "none", "but no more than there are");
    is_str(common(&a, &none, 0), "none", "with a node without there is none");
    add(&a, "fd00::1", 64, 10000, 0, "hsn0");
    add(&b, "fd00::2", 64, 10000, 0, "hsn0");
    is_str(common(&a, &b, 0), "hsn0 to fd00::2", "one of them by IPv6");
    is_str(common(&a, &b, 1), "hsn1 to 10.2.0.2", "the other is a rail");
    is_str(common(&a, &b, 2), "eth1 to 10.3.0.2",
           "and its other address is no rail of its own");
    add(&c, "10.1.0.3", 24, 10000, 0, "hsn0");
    is_str(common(&a, &c, 0), "none", "nor in networks of another size");
    add(&c, "10.2.0.3", 16, 0, 1, "hsn1");
    add(&c, "10.3.0.3", 16, 0, 2, "eth1");
    is_str(common(&a, &c, 0), "hsn1 to 10.2.0.3",
           "of unknown speed they are as the list has them");
}

static void test_link_local(void)
{
    struct networks a = {0}, b = {0};
    struct address at;
    const struct network *here, *there;

    add(&a, "fe80::1", 64, 0, 0, "ib0");
    add(&b, "fe80::2", 64, 0, 0, "ib1");
    is_str(common(&a, &b, 0), "none", "link-local addresses of two links");
    add(&b, "fe80::3", 64, 0, 0, "ib0");
    is_str(common(&a, &b, 0), "ib0 to fe80::3", "of one link, by its name");
    if (networks_common(&a, &b, 0, &here, &there) == 0) {
        network_address(&at, there, 7, 4000);
        is_int(
            ((const struct sockaddr_in6 *)(const void *)&at.at)->sin6_scope_id,
            7, "are called there with our scope");
    }
}

static void test_text(void)
{
    static const char *const bad[] = {"10.0.0.1/16,1,0,eth0",
                                      " 10.0.0.1/16,1,0,",
                                      " 10.0.0.1/16,1,eth0",
                                      " 10.0.0.1/16,1,256,eth0",
                                      " 10.0.0.1,1,0,eth0",
                                      " 10.0.0.1/16,4294967296,0,eth0",
                                      " 10.0.0.1/16,1,0,eth0 ",
                                      " 10.0.0.1/16,-1,0,eth0",
                                      " fd00:0::1/64,1,0,eth0",
                                      " ::ffff:10.0.0.1/112,1,0,eth0",
                                      " 10.0.0.1/016,1,0,eth0",
                                      " x/16,1,0,eth0",
                                      " 10.0.0.1/16,1,0,a-name-of-17-bytes"};
    struct networks all = {0}, back;
    char text[NETWORKS_TEXT_MAX], many[2 * NETWORKS_TEXT_MAX] = "";

    add(&all, "10.1.0.1", 16, 10000, 0, "hsn0");
    add(&all, "fe80::1", 64, 0, 3, "ib0");
    networks_format(&all, text, sizeof text);
    is_str(text, " 10.1.0.1/16,10000,0,hsn0 fe80::1/64,0,3,ib0", "as text");
    ok(networks_parse(&back, text) == 0 && memcmp(&back, &all, sizeof all) == 0,
       "and back");
    is_int(networks_parse(&back, ""), 0, "none is none");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(networks_parse(&back, bad[i]) == -1 && back.n == 0,
           "\"%s\" is no such text", bad[i]);
    for (unsigned i = 0; i <= NETWORKS_MAX; i++)
        strcat(many, " 10.0.0.1/16,1,0,eth0");
    is_int(networks_parse(&back, many), -1, "nor are too many");
}

static void test_routes(void)
{
    struct networks a = {0}, b = {0};
    struct address to;
    char text[ADDRESS_MAX];

    add(&a, "10.1.0.1", 16, 0, 0, "hsn0");
    is_int(route_find(&to, &a, &b, 0, "10.0.0.2", 1), ROUTE_PLAIN,
           "without a common network it is the plain address");
    add(&b, "10.1.0.2", 16, 0, 0, "hsn0");
    is_int(route_find(&to, &a, &b, 0, "10.0.0.2", 1), ROUTE_NETWORK,
           "with one it is that");
    (void)address_format(text, (const struct sockaddr *)&to.at);
    is_str(text, "10.1.0.2", "at the other's address");
    is_int(route_find(&to, NULL, &b, 0, "fd00::2", 1), ROUTE_PLAIN,
           "or the plain one, if that has failed");
    is_int(route_find(&to, &a, &b, 1, "10.0.0.2", 1), ROUTE_NONE,
           "a second one there is not");
    is_int(route_find(&to, NULL, &b, 0, "node", 1), ROUTE_NONE,
           "a name is no address");
}

static void test_find(void)
{
    struct networks all;

    ok(networks_find(&all, "lo", 1, "/sys") == 0 && all.n >= 1
           && strcmp(all.at[0].name, "lo") == 0,
       "this machine has lo");
    ok(networks_find(&all, "lo", 0, "/sys") == 0 && all.n == 0,
       "which is of no use to other machines");
    ok(networks_find(&all, "", 1, "/sys") == 0 && all.n == 0,
       "nothing is meant by an empty list");
}

int main(void)
{
    test_lists();
    test_own();
    test_pairs();
    test_link_local();
    test_text();
    test_routes();
    test_find();
    return done();
}
