/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * adapter.h - a node's network adapter, for the connection table
 * (conntable.h): how the tasks on the node are reached.
 *
 * A node sends these bytes to its front end; each entry of the table begins
 * with them:
 *
 *   offset  size  field        (integers little-endian)
 *        0    16  address      GID; or IPv6, IPv4 as ::ffff:a.b.c.d
 *       16     8  network id   see struct adapter
 *       24     4  logical id (LID)
 *       28     4  port id
 *       32     4  rate         Mbit/s, 0 if not known
 *       36     2  TCP port
 *       38     1  LMC          0 to 7
 *       39     1  link         enum adapter_link, not 0
 *       40    16  IP address   as above
 */
#ifndef PMIX_BCAST_ADAPTER_H
#define PMIX_BCAST_ADAPTER_H

#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define ADAPTER_BYTES 56u
#define LMC_MAX       7u /* three bits: InfiniBand Architecture, PortInfo */

enum adapter_link {
    ADAPTER_NONE = 0,
    ADAPTER_IP = 1,         /* a network interface, no more is known */
    ADAPTER_INFINIBAND = 2, /* a port of /sys/class/infiniband */
    ADAPTER_ROCE = 3,       /* likewise, over Ethernet: it has no LID */
};

struct adapter {
    uint8_t address[16]; /* GID 0 of the port; the IP address if ADAPTER_IP */
    /*
     * The same for all adapters of one subnet: the GID's subnet prefix; the
     * network part of an IPv6 address, its upper 64 bits; of an IPv4 address
     * a.b.c.d/24 it is 0x0000ffffaabbcc00.
     */
    uint64_t network;
    uint32_t lid, port; /* 0 if ADAPTER_IP */
    uint32_t rate_mbps; /* 0: not known */
    uint16_t tcp_port;  /* on ip, where the node listens */
    uint8_t lmc;        /* 2^lmc LIDs from lid on lead to this port */
    enum adapter_link link;
    uint8_t ip[16]; /* for TCP/IP, whatever the application uses */
};

/*
 * The adapter of this node.
 *
 *   sysfs  "/sys"; tests bring a tree of their own
 *   local  the local end of the connection to the front end, IPv4 or IPv6
 *
 * It is an active port of sysfs's class/infiniband if there is one: InfiniBand
 * before RoCE, then the fastest, then the first by name; else the network
 * interface that has local's address.  tcp_port is left 0, for the caller to
 * set.  Returns 0, or -1 (*a zeroed).
 */
int adapter_find(struct adapter *a,
                 const char *sysfs,
                 const struct sockaddr *local,
                 struct es_error *err);

void adapter_encode(uint8_t bytes[ADAPTER_BYTES], const struct adapter *a);
/* 0, or -1 if bytes[0..len) are no adapter (*a zeroed). */
int adapter_decode(struct adapter *a, const uint8_t *bytes, size_t len);
/* Whether adapter_decode() would take it. */
int adapter_is_sound(const struct adapter *a);

/* "ip", "infiniband" or "roce"; "none" for anything else. */
const char *adapter_link_name(enum adapter_link link);

#endif
