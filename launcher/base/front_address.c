/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/front_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINK_LOCAL 0xa9fe0000u /* 169.254.0.0/16; RFC 3927 */

static int is_loopback(struct in_addr in)
{
    return ntohl(in.s_addr) >> 24 == IN_LOOPBACKNET;
}

int front_address_is_loopback(const char *text)
{
    struct in_addr in;

    return inet_pton(AF_INET, text, &in) != 1 || is_loopback(in);
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

/* Find our address on the way to `to`.  connect() of a datagram socket sends
 * nothing.  0, or -1 if it is a loopback address or there is no route. */
static int address_towards(const struct sockaddr_in *to,
                           char address[ADDRESS_MAX])
{
    struct sockaddr_in own, port = *to;
    socklen_t len = sizeof own;
    int rc = -1, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    port.sin_port = htons(9); /* any; discard, RFC 863 */
    if (!is_loopback(to->sin_addr)
        && connect(fd, (const struct sockaddr *)&port, sizeof port) == 0
        && getsockname(fd, (struct sockaddr *)&own, &len) == 0
        && !is_loopback(own.sin_addr)
        && inet_ntop(AF_INET, &own.sin_addr, address, ADDRESS_MAX))
        rc = 0;
    close(fd);
    return rc;
}

static int address_towards_host(const char *host, char address[ADDRESS_MAX])
{
    const struct addrinfo hints = {.ai_family = AF_INET,
                                   .ai_socktype = SOCK_DGRAM};
    struct addrinfo *list, *i;
    int rc = -1;

    if (!host || !*host || getaddrinfo(host, NULL, &hints, &list) != 0)
        return -1;
    for (i = list; i && rc < 0; i = i->ai_next)
        rc = address_towards((const void *)i->ai_addr, address);
    freeaddrinfo(list);
    return rc;
}

static void take_interface(char address[ADDRESS_MAX])
{
    struct ifaddrs *list, *i;

    if (getifaddrs(&list) < 0)
        return;
    for (i = list; i && !address[0]; i = i->ifa_next) {
        const struct sockaddr_in *in = (const void *)i->ifa_addr;

        if (!in || in->sin_family != AF_INET || !(i->ifa_flags & IFF_UP)
            || is_loopback(in->sin_addr)
            || (ntohl(in->sin_addr.s_addr) & IN_CLASSB_NET) == LINK_LOCAL)
            continue;
        (void)inet_ntop(AF_INET, &in->sin_addr, address, ADDRESS_MAX);
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
