/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of a port, "state", "lid" and so on, and their texts are a stable
 * interface of Linux: Documentation/ABI/stable/sysfs-class-infiniband.
 */
#include "pmix_bcast/adapter.h"
#include "pmix_bcast/bytes.h"
#include "pmix_bcast/little_endian.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATE_ACTIVE "4:" /* of "4: ACTIVE"; enum ib_port_state */

/* --- files of sysfs ------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static int join(char path[PATH_MAX],
                                                      const char *fmt,
                                                      ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(path, PATH_MAX, fmt, ap);
    va_end(ap);
    return n >= 0 && n < PATH_MAX ? 0 : -1;
}

/* The line that a file of folder consists of; -1 if it cannot be read. */
static int read_line(const char *folder, const char *name, char *text, int size)
{
    char path[PATH_MAX];
    FILE *file;
    int rc = -1;

    if (join(path, "%s/%s", folder, name) < 0)
        return -1;
    file = fopen(path, "re");
    if (!file)
        return -1;
    if (fgets(text, size, file)) {
        text[strcspn(text, "\n")] = '\0';
        rc = 0;
    }
    (void)fclose(file); /* was only read */
    return rc;
}

/* A whole text as a number of C's base 10, or 16 with 0x. */
static int parse_number(const char *text, uint32_t high, uint32_t *v)
{
    unsigned long n;
    char *end;

    if (!isdigit((unsigned char)text[0]))
        return -1;
    errno = 0;
    n = strtoul(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
    if (*end != '\0' || errno != 0 || n > high)
        return -1;
    *v = (uint32_t)n;
    return 0;
}

static int read_number(const char *folder,
                       const char *name,
                       uint32_t high,
                       uint32_t *v)
{
    char text[32];

    return read_line(folder, name, text, sizeof text) == 0
               ? parse_number(text, high, v)
               : -1;
}

/* --- ports of class/infiniband -------------------------------------------- */

static uint64_t upper_64(const uint8_t *p)
{
    return (uint64_t)get_u32(p) << 32 | get_u32(p + 4);
}

static enum adapter_link read_link(const char *port)
{
    char text[32];

    if (read_line(port, "link_layer", text, sizeof text) < 0)
        return ADAPTER_NONE;
    if (strcmp(text, "InfiniBand") == 0)
        return ADAPTER_INFINIBAND;
    return strcmp(text, "Ethernet") == 0 ? ADAPTER_ROCE : ADAPTER_NONE;
}

/* "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)". */
static uint32_t read_rate(const char *port)
{
    char text[64], *end;
    double gbps;

    if (read_line(port, "rate", text, sizeof text) < 0
        || !isdigit((unsigned char)text[0]))
        return 0;
    gbps = strtod(text, &end);
    if (strncmp(end, " Gb/sec", 7) != 0 || !(gbps * 1000 < UINT32_MAX))
        return 0;
    return (uint32_t)(gbps * 1000 + 0.5);
}

/* A port that is active and says all that is asked of it, else -1. */
static int read_port(struct adapter *a, const char *port)
{
    static const uint8_t nowhere[16];
    uint32_t lmc;
    char text[64];

    if (read_line(port, "state", text, sizeof text) < 0
        || strncmp(text, STATE_ACTIVE, strlen(STATE_ACTIVE)) != 0)
        return -1;
    a->link = read_link(port);
    if (a->link == ADAPTER_NONE
        || read_line(port, "gids/0", text, sizeof text) < 0
        || inet_pton(AF_INET6, text, a->address) != 1
        || memcmp(a->address, nowhere, sizeof nowhere) == 0
        || read_number(port, "lid", UINT32_MAX, &a->lid) < 0
        || read_number(port, "lid_mask_count", LMC_MAX, &lmc) < 0)
        return -1;
    a->lmc = (uint8_t)lmc;
    a->network = upper_64(a->address);
    a->rate_mbps = read_rate(port);
    return 0;
}

static int is_better(const struct adapter *a, const struct adapter *b)
{
    if (b->link == ADAPTER_NONE)
        return 1;
    if (a->link != b->link)
        return a->link == ADAPTER_INFINIBAND;
    return a->rate_mbps > b->rate_mbps;
}

static int is_named(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

/*
 * Call each(best, path) for all in a folder; mlx5_2 comes before mlx5_10.  A
 * folder that is not there or cannot be read has nothing in it.
 */
static void for_each(const char *folder,
                     void (*each)(struct adapter *best, const char *path),
                     struct adapter *best)
{
    struct dirent **list;
    char path[PATH_MAX];
    int n = scandir(folder, &list, is_named, versionsort);

    for (int i = 0; i < n; i++) {
        if (join(path, "%s/%s", folder, list[i]->d_name) == 0)
            each(best, path);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
}

static void try_port(struct adapter *best, const char *path)
{
    struct adapter a = {.link = ADAPTER_NONE};

    if (parse_number(strrchr(path, '/') + 1, UINT32_MAX, &a.port) == 0
        && read_port(&a, path) == 0 && is_better(&a, best))
        *best = a;
}

static void try_device(struct adapter *best, const char *path)
{
    char ports[PATH_MAX];

    if (join(ports, "%s/ports", path) == 0)
        for_each(ports, try_port, best);
}

/* --- network interfaces --------------------------------------------------- */

static int ip_of(uint8_t ip[16], const struct sockaddr *from)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

    if (from && from->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)from;

        memcpy(ip, mapped, sizeof mapped);
        memcpy(ip + 12, &in->sin_addr, 4);
        return 0;
    }
    if (from && from->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const void *)from;

        memcpy(ip, &in6->sin6_addr, 16);
        return 0;
    }
    return -1;
}

static uint64_t network_of(const uint8_t ip[16], const struct sockaddr *netmask)
{
    struct in6_addr net;
    uint8_t mask[16];

    if (ip_of(mask, netmask) < 0)
        memset(mask, 0xff, sizeof mask); /* a link of two: all of it */
    for (int i = 0; i < 16; i++)
        net.s6_addr[i] = ip[i] & mask[i];
    return upper_64(net.s6_addr + (IN6_IS_ADDR_V4MAPPED(&net) ? 8 : 0));
}

/* The interface with the address a->ip; -1 with errno, 0 if there is none. */
static int find_interface(struct adapter *a, const char *sysfs)
{
    struct ifaddrs *list, *i;
    char folder[PATH_MAX];
    uint8_t ip[16];
    int found;

    if (getifaddrs(&list) < 0)
        return -1;
    for (i = list; i; i = i->ifa_next)
        if (ip_of(ip, i->ifa_addr) == 0 && memcmp(ip, a->ip, sizeof ip) == 0)
            break;
    found = i != NULL;
    if (found) {
        a->link = ADAPTER_IP;
        memcpy(a->address, a->ip, sizeof a->address);
        a->network = network_of(a->ip, i->ifa_netmask);
        if (join(folder, "%s/class/net/%s", sysfs, i->ifa_name) == 0)
            (void)read_number(folder, "speed", UINT32_MAX, &a->rate_mbps);
    }
    freeifaddrs(list);
    return found;
}

int adapter_find(struct adapter *a,
                 const char *sysfs,
                 const struct sockaddr *local,
                 struct es_error *err)
{
    char text[PATH_MAX];
    uint8_t ip[16];
    int rc;

    memset(a, 0, sizeof *a);
    if (ip_of(ip, local) < 0)
        return es_fail(err, ES_ENV,
                       "connect to the front end over IPv4 or IPv6",
                       "the connection to the front end has no IP address");
    if (join(text, "%s/class/infiniband", sysfs) == 0)
        for_each(text, try_device, a);
    memcpy(a->ip, ip, sizeof ip);
    if (a->link != ADAPTER_NONE)
        return 0;
    rc = find_interface(a, sysfs);
    if (rc > 0)
        return 0;
    if (rc < 0)
        es_fail(err, ES_ENV, "free some memory or file descriptors",
                "the network interfaces cannot be listed: %s", strerror(errno));
    else
        es_fail(err, ES_ENV, "keep the network as it is while a step runs",
                "no network interface has the address %s",
                inet_ntop(AF_INET6, ip, text, sizeof text));
    memset(a, 0, sizeof *a);
    return -1;
}

/* --- bytes ---------------------------------------------------------------- */

void adapter_encode(uint8_t bytes[ADAPTER_BYTES], const struct adapter *a)
{
    memcpy(bytes, a->address, 16);
    put_le64(bytes + 16, a->network);
    put_le32(bytes + 24, a->lid);
    put_le32(bytes + 28, a->port);
    put_le32(bytes + 32, a->rate_mbps);
    put_le16(bytes + 36, a->tcp_port);
    bytes[38] = a->lmc;
    bytes[39] = (uint8_t)a->link;
    memcpy(bytes + 40, a->ip, 16);
}

int adapter_decode(struct adapter *a, const uint8_t *bytes, size_t len)
{
    memset(a, 0, sizeof *a);
    if (len != ADAPTER_BYTES)
        return -1;
    memcpy(a->address, bytes, 16);
    a->network = get_le64(bytes + 16);
    a->lid = get_le32(bytes + 24);
    a->port = get_le32(bytes + 28);
    a->rate_mbps = get_le32(bytes + 32);
    a->tcp_port = get_le16(bytes + 36);
    a->lmc = bytes[38];
    a->link = (enum adapter_link)bytes[39];
    memcpy(a->ip, bytes + 40, 16);
    if (adapter_is_sound(a))
        return 0;
    memset(a, 0, sizeof *a);
    return -1;
}

int adapter_is_sound(const struct adapter *a)
{
    return a->link > ADAPTER_NONE && a->link <= ADAPTER_ROCE
           && a->lmc <= LMC_MAX;
}

const char *adapter_link_name(enum adapter_link link)
{
    switch (link) {
    case ADAPTER_IP:
        return "ip";
    case ADAPTER_INFINIBAND:
        return "infiniband";
    case ADAPTER_ROCE:
        return "roce";
    default:
        return "none";
    }
}
