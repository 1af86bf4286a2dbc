/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DISCARD 9 /* RFC 863: any port would do */

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

/* --- text ----------------------------------------------------------------- */

static void set_ipv4(struct address *a, const void *ip, uint16_t port)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};

    memcpy(&in.sin_addr, ip, sizeof in.sin_addr);
    memcpy(&a->at, &in, sizeof in);
    a->len = sizeof in;
}

static void set_ipv6(struct address *a,
                     const void *ip,
                     uint32_t scope,
                     uint16_t port)
{
    struct sockaddr_in6 in = {.sin6_family = AF_INET6,
                              .sin6_port = htons(port)};

    memcpy(&in.sin6_addr, ip, sizeof in.sin6_addr);
    in.sin6_scope_id = scope;
    memcpy(&a->at, &in, sizeof in);
    a->len = sizeof in;
}

/* "fe80::1" and what stands behind '%', a name or a number. */
static int parse_ipv6(struct address *a, const char *text, uint16_t port)
{
    char ip[INET6_ADDRSTRLEN];
    size_t len = strcspn(text, "%");
    struct in6_addr in;
    uint32_t scope = 0;
    char *end = NULL;

    if (len >= sizeof ip)
        return -1;
    memcpy(ip, text, len);
    ip[len] = '\0';
    if (inet_pton(AF_INET6, ip, &in) != 1)
        return -1;
    if (text[len] == '%') {
        const char *name = text + len + 1;

        scope = if_nametoindex(name);
        if (scope == 0 && isdigit((unsigned char)*name))
            scope = (uint32_t)strtoul(name, &end, 10);
        if (scope == 0 || (end && *end))
            return -1;
    }
    set_ipv6(a, &in, scope, port);
    return 0;
}

int address_parse(struct address *a, const char *text, uint16_t port)
{
    struct in_addr in;

    memset(a, 0, sizeof *a);
    if (inet_pton(AF_INET, text, &in) != 1)
        return parse_ipv6(a, text, port);
    set_ipv4(a, &in, port);
    return 0;
}

static int format_ipv6(char text[ADDRESS_MAX], const struct sockaddr_in6 *in)
{
    char name[IF_NAMESIZE];
    size_t len;

    if (!inet_ntop(AF_INET6, &in->sin6_addr, text, ADDRESS_MAX))
        return -1;
    len = strlen(text);
    if (in->sin6_scope_id == 0)
        return 0;
    if (if_indextoname(in->sin6_scope_id, name))
        snprintf(text + len, ADDRESS_MAX - len, "%%%s", name);
    else
        snprintf(text + len, ADDRESS_MAX - len, "%%%u", in->sin6_scope_id);
    return 0;
}

int address_format(char text[ADDRESS_MAX], const struct sockaddr *from)
{
    uint8_t ip[16];

    text[0] = '\0';
    if (address_bytes(ip, from) < 0)
        return -1;
    if (memcmp(ip, mapped, sizeof mapped) == 0)
        return inet_ntop(AF_INET, ip + 12, text, ADDRESS_MAX) ? 0 : -1;
    return format_ipv6(text, (const void *)from);
}

void address_join(char text[ADDRESS_PORT_MAX],
                  const char *address,
                  uint16_t port)
{
    snprintf(text, ADDRESS_PORT_MAX, strchr(address, ':') ? "[%s]:%u" : "%s:%u",
             address, port);
}

int address_split(char address[ADDRESS_MAX], uint16_t *port, const char *text)
{
    const char *colon = strrchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : 0;
    unsigned long number;
    char *end;

    address[0] = '\0';
    *port = 0;
    if (!colon || !isdigit((unsigned char)colon[1]))
        return -1;
    number = strtoul(colon + 1, &end, 10);
    if (*end || number == 0 || number > UINT16_MAX)
        return -1;
    if (len > 1 && text[0] == '[' && text[len - 1] == ']') {
        text++;
        len -= 2;
    } else if (memchr(text, ':', len)) {
        return -1; /* where would it end? */
    }
    if (len >= ADDRESS_MAX)
        return -1;
    memcpy(address, text, len);
    address[len] = '\0';
    *port = (uint16_t)number;
    return 0;
}

/* --- bytes ---------------------------------------------------------------- */

void address_of_bytes(struct address *a,
                      const uint8_t ip[16],
                      uint32_t scope,
                      uint16_t port)
{
    memset(a, 0, sizeof *a);
    if (memcmp(ip, mapped, sizeof mapped) == 0)
        set_ipv4(a, ip + 12, port);
    else
        set_ipv6(a, ip, scope, port);
}

int address_bytes(uint8_t ip[16], const struct sockaddr *from)
{
    memset(ip, 0, 16);
    if (from && from->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)from;

        memcpy(ip, mapped, sizeof mapped);
        memcpy(ip + 12, &in->sin_addr, 4);
        return 0;
    }
    if (from && from->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in = (const void *)from;

        memcpy(ip, &in->sin6_addr, 16);
        return 0;
    }
    return -1;
}

uint16_t address_port(const struct sockaddr *from)
{
    if (from->sa_family == AF_INET)
        return ntohs(
            ((const struct sockaddr_in *)(const void *)from)->sin_port);
    if (from->sa_family == AF_INET6)
        return ntohs(
            ((const struct sockaddr_in6 *)(const void *)from)->sin6_port);
    return 0;
}

void address_set_port(struct address *a, uint16_t port)
{
    if (a->at.ss_family == AF_INET)
        ((struct sockaddr_in *)(void *)&a->at)->sin_port = htons(port);
    else
        ((struct sockaddr_in6 *)(void *)&a->at)->sin6_port = htons(port);
}

/* --- this machine --------------------------------------------------------- */

enum loopback address_loopback(const char *text)
{
    struct address a;
    uint8_t ip[16];

    if (address_parse(&a, text, 0) < 0)
        return LOOPBACK_NO;
    (void)address_bytes(ip, (const struct sockaddr *)&a.at); /* it is either */
    if (memcmp(ip, mapped, sizeof mapped) == 0)
        return ip[12] == IN_LOOPBACKNET ? LOOPBACK_IPV4 : LOOPBACK_NO;
    return memcmp(ip, &in6addr_loopback, sizeof ip) == 0 ? LOOPBACK_IPV6
                                                         : LOOPBACK_NO;
}

const char *address_loopback_text(enum loopback which)
{
    return which == LOOPBACK_IPV6 ? "::1" : "127.0.0.1";
}

static int can_bind(const struct address *a)
{
    int rc = -1, fd = socket(a->at.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return 0;
    rc = bind(fd, (const struct sockaddr *)&a->at, a->len);
    close(fd);
    return rc == 0;
}

enum loopback address_own_loopback(void)
{
    struct address four, six;

    if (address_parse(&four, "127.0.0.1", 0) == 0 && !can_bind(&four)
        && address_parse(&six, "::1", 0) == 0 && can_bind(&six))
        return LOOPBACK_IPV6;
    return LOOPBACK_IPV4;
}

enum loopback address_loopback_for(int all_here)
{
    return all_here ? address_own_loopback() : LOOPBACK_NO;
}

/* connect() of a datagram socket sends nothing. */
int address_towards(struct address *own, const struct address *to)
{
    struct address port = *to;
    int saved, rc = -1,
               fd = socket(to->at.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    memset(own, 0, sizeof *own);
    own->len = sizeof own->at;
    if (fd < 0)
        return -1;
    if (address_port((const struct sockaddr *)&to->at) == 0)
        address_set_port(&port, DISCARD);
    if (connect(fd, (const struct sockaddr *)&port.at, port.len) == 0
        && getsockname(fd, (struct sockaddr *)&own->at, &own->len) == 0)
        rc = 0;
    saved = errno;
    close(fd);
    errno = saved;
    return rc;
}
