/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/front_address.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *list, *last;
} lists[] = {
    {"", ""},
    {"n0", "n0"},
    {"n0,m7", "m7"},
    {"n[0-3]", "n3"},
    {"n[0-3,7]", "n7"},
    {"n[7]", "n7"},
    {"n[0-3,7],m[01-12]", "m12"},
    {"n[0-3],login-1.site", "login-1.site"},
    {"a,rack[1-2],n[08-11,13-15]", "n15"},
    {"]", ""},
    {"n]", ""},
};

static const struct {
    const char *address;
    int is_loopback;
} addresses[] = {
    {"127.0.0.1", 1},
    {"127.0.1.1", 1},
    {"127.255.255.254", 1},
    {"", 1},
    {"::1", 1},
    {"n0", 1},
    {"10.11.1.1", 0},
    {"128.0.0.1", 0},
    {"126.0.0.1", 0},
    {"192.168.1.1", 0},
};

int main(void)
{
    char name[NODE_NAME_MAX], address[ADDRESS_MAX], *long_list;

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        front_address_last(lists[i].list, name);
        ok(strcmp(name, lists[i].last) == 0, "the last of \"%s\"",
           lists[i].list);
    }
    long_list = calloc(1, 1000);
    if (!long_list)
        bail("no memory");
    memset(long_list, 'n', 999);
    front_address_last(long_list, name);
    is_str(name, "", "a name that is too long");
    free(long_list);
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++)
        ok(front_address_is_loopback(addresses[i].address)
               == addresses[i].is_loopback,
           "\"%s\" is %s use to others", addresses[i].address,
           addresses[i].is_loopback ? "of no" : "of");
    front_address_find(NULL, address);
    ok(!address[0] || !front_address_is_loopback(address),
       "what is found is no loopback address");
    return done();
}
