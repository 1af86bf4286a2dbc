/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/front_address.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int front_address_is_loopback(const char *text)
{
    struct address a;

    return address_parse(&a, text, 0) < 0
           || address_loopback(text) != LOOPBACK_NO;
}

void front_address_last(const char *list, char name[NODE_NAME_MAX])
{
    size_t len = strlen(list), digits, begin;
    const char *open, *at = list + len;
    int n = -1;

    name[0] = '\0';
    if (len == 0)
        return;
    if (at[-1] != ']') { /* the last name has no brackets */
        open = strrchr(list, ',');
        n = snprintf(name, NODE_NAME_MAX, "%s", open ? open + 1 : list);
    } else if ((open = strrchr(list, '[')) != NULL) {
        for (at--; at > open + 1 && at[-1] != ',' && at[-1] != '-';)
            at--;
        digits = (size_t)(list + len - 1 - at);
        for (begin = (size_t)(open - list);
             begin > 0 && list[begin - 1] != ',';)
            begin--;
        n = snprintf(name, NODE_NAME_MAX, "%.*s%.*s",
                     (int)(open - list - (ptrdiff_t)begin), list + begin,
                     (int)digits, at);
    }
    if (n < 0 || n >= NODE_NAME_MAX)
        name[0] = '\0';
}

/* Of no use to other machines: it would need the name of their interface. */
static int is_link_local(const char *text)
{
    uint8_t ip[16];
    struct address a;

    if (address_parse(&a, text, 0) < 0)
        return 1;
    (void)address_bytes(ip, (const struct sockaddr *)&a.at); /* it is either */
    return a.at.ss_family == AF_INET ? ip[12] == 169 && ip[13] == 254
                                     : ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80;
}

static int is_for_others(const char *text)
{
    return !front_address_is_loopback(text) && !is_link_local(text);
}

/* Find our address on the way to `to`: 0, or -1 if it is of no use to others
 * or there is no route. */
static int find_towards(const struct addrinfo *to, char address[ADDRESS_MAX])
{
    struct address own, at = {.len = to->ai_addrlen};
    char text[ADDRESS_MAX];

    if (to->ai_addrlen > sizeof at.at)
        return -1;
    memcpy(&at.at, to->ai_addr, to->ai_addrlen);
    if (address_format(text, to->ai_addr) < 0 || front_address_is_loopback(text)
        || address_towards(&own, &at) < 0
        || address_format(text, (const struct sockaddr *)&own.at) < 0
        || !is_for_others(text))
        return -1;
    memcpy(address, text, ADDRESS_MAX);
    return 0;
}

static int address_towards_host(const char *host, char address[ADDRESS_MAX])
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = SOCK_DGRAM};
    struct addrinfo *list, *i;
    int rc = -1;

    if (!host || !*host || getaddrinfo(host, NULL, &hints, &list) != 0)
        return -1;
    for (i = list; i && rc < 0; i = i->ai_next)
        rc = find_towards(i, address);
    freeaddrinfo(list);
    return rc;
}

/* The first of IPv4, else of IPv6. */
static void take_interface(char address[ADDRESS_MAX])
{
    struct ifaddrs *list, *i;
    char text[ADDRESS_MAX];

    if (getifaddrs(&list) < 0)
        return;
    for (i = list; i; i = i->ifa_next) {
        if (!(i->ifa_flags & IFF_UP) || address_format(text, i->ifa_addr) < 0
            || !is_for_others(text)
            || (address[0] && i->ifa_addr->sa_family != AF_INET))
            continue;
        memcpy(address, text, ADDRESS_MAX);
        if (i->ifa_addr->sa_family == AF_INET)
            break;
    }
    freeifaddrs(list);
}

void front_address_find(const char *job_nodes, char address[ADDRESS_MAX])
{
    char own[NODE_NAME_MAX] = "", last[NODE_NAME_MAX];

    address[0] = '\0';
    (void)gethostname(own, sizeof own - 1); /* else there are the others */
    front_address_last(job_nodes ? job_nodes : "", last);
    if (address_towards_host(own, address) < 0
        && address_towards_host(last, address) < 0
        && address_towards_host(getenv("SLURM_SUBMIT_HOST"), address) < 0)
        take_interface(address);
}
