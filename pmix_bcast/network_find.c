/* SPDX-License-Identifier: BSD-2-Clause */
/* Which networks this machine is in, as the kernel says. */
#include "pmix_bcast/network.h"

#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Documentation/ABI/testing/sysfs-class-net: Mbit/s, -1 if it is not known,
 * and an error if the link is down. */
static uint32_t read_speed(const char *sysfs, const char *name)
{
    char path[PATH_MAX];
    long mbps = 0;
    FILE *file;
    int n = snprintf(path, sizeof path, "%s/class/net/%s/speed", sysfs, name);

    file = n > 0 && (size_t)n < sizeof path ? fopen(path, "re") : NULL;
    if (!file)
        return 0;
    if (fscanf(file, "%9ld", &mbps) != 1 || mbps < 0)
        mbps = 0;
    (void)fclose(file); /* was only read */
    return (uint32_t)mbps;
}

static unsigned count_bits(const struct sockaddr *mask)
{
    uint8_t bytes[16];
    unsigned bits = 0;

    if (address_bytes(bytes, mask) < 0)
        return 128; /* a link of two */
    while (bits < 128 && bytes[bits / 8] >> (7 - bits % 8) & 1)
        bits++;
    return bits;
}

/* The mask of an IPv4 network, too, with the 96 bits in front of it. */
static unsigned prefix_of(const struct sockaddr *mask)
{
    struct address all;
    uint8_t bytes[16];

    if (!mask || mask->sa_family != AF_INET)
        return count_bits(mask);
    (void)address_bytes(bytes, mask); /* it is IPv4 */
    memset(bytes, 0xff, 12);
    address_of_bytes(&all, bytes, 0, 0);
    return count_bits((const struct sockaddr *)&all.at);
}

static void try_address(struct networks *all,
                        const struct ifaddrs *i,
                        const char *list,
                        int loopback,
                        const char *sysfs)
{
    struct network n = {0};
    int place;

    if (!(i->ifa_flags & IFF_UP) || !(i->ifa_flags & IFF_LOOPBACK) != !loopback
        || strlen(i->ifa_name) >= sizeof n.name
        || address_bytes(n.ip, i->ifa_addr) < 0)
        return;
    place = network_place(list, i->ifa_name, n.ip);
    if (place < 0 || place > UINT8_MAX)
        return;
    n.place = (uint8_t)place;
    n.prefix = (uint8_t)prefix_of(i->ifa_netmask);
    n.mbps = read_speed(sysfs, i->ifa_name);
    memcpy(n.name, i->ifa_name, strlen(i->ifa_name) + 1);
    networks_add(all, &n);
}

int networks_find(struct networks *all,
                  const char *list,
                  int loopback,
                  const char *sysfs)
{
    struct ifaddrs *found;

    memset(all, 0, sizeof *all);
    if (!list || !*list)
        return 0;
    if (getifaddrs(&found) < 0)
        return -1;
    for (const struct ifaddrs *i = found; i; i = i->ifa_next)
        try_address(all, i, list, loopback, sysfs);
    freeifaddrs(found);
    return 0;
}
