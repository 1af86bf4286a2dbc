/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * network.h - which of several networks data goes by.
 *
 * A site names the interfaces that are meant for data, in a list such as
 * "ib0,hsn*,10.1.0.0/16": names of interfaces, with * and ?, or networks.  Each
 * node tells the others which of its addresses are meant (struct networks).
 * Two nodes talk by the fastest network that both are in: that of the greatest
 * speed, where the slower end counts; of equal ones that which stands first in
 * the list.  Pure, but for networks_find().
 *
 * Two addresses are in one network if their network parts are the same.  That of
 * a link-local address says nothing (it is fe80::/64 on each link): then the
 * interface's name must be the same.
 */
#ifndef PMIX_BCAST_NETWORK_H
#define PMIX_BCAST_NETWORK_H

#include "pmix_bcast/address.h"

#include <stddef.h>
#include <stdint.h>

#define NETWORKS_MAX     6u   /* addresses of a node */
#define NETWORK_NAME_MAX 16u  /* IFNAMSIZ */
#define NETWORK_LIST_MAX 256u /* such a list, with its NUL */
/* One as text: a space, an address, its prefix, speed, place and name. */
#define NETWORK_TEXT_MAX  (ADDRESS_MAX + 24u + NETWORK_NAME_MAX)
#define NETWORKS_TEXT_MAX (NETWORKS_MAX * NETWORK_TEXT_MAX + 1u)

struct network {
    uint8_t ip[16]; /* IPv4 as ::ffff:a.b.c.d */
    uint8_t prefix; /* bits of it that are the network's, up to 128 */
    uint8_t place;  /* in the list, from 0 */
    uint32_t mbps;  /* 0: not known */
    char name[NETWORK_NAME_MAX]; /* of the interface */
};

struct networks { /* of a node, the best first */
    uint32_t n;
    struct network at[NETWORKS_MAX];
};

/* Is it such a list?  0 or -1. */
int network_list_check(const char *list);
/* The place of what an interface or one of its addresses is named by; -1 if
 * nothing names it. */
int network_place(const char *list, const char *name, const uint8_t ip[16]);
/* Put it where it belongs.  An interface has one address a family, and a
 * link-local one only if it has no other; the worst gives way. */
void networks_add(struct networks *all, const struct network *one);
/*
 * The best that both are in; rail counts further ones, each by other interfaces
 * of both.  Returns 0 with the addresses at the two ends, or -1 if there is
 * none (any more).
 */
int networks_common(const struct networks *mine,
                    const struct networks *theirs,
                    unsigned rail,
                    const struct network **here,
                    const struct network **there);
/* How a socket calls there: the scope of a link-local address is ours. */
void network_address(struct address *a,
                     const struct network *there,
                     uint32_t scope,
                     uint16_t port);

/*
 * As text, each with a space in front: " ADDRESS/PREFIX,MBPS,PLACE,NAME".
 * networks_parse() returns 0, or -1 if it is not as networks_format() writes it
 * (*all zeroed).
 */
void networks_format(const struct networks *all, char *text, size_t size);
int networks_parse(struct networks *all, const char *text);

/*
 * Those of this machine: of interfaces that are up, and of loopback ones only
 * if loopback is set, else of none.  sysfs is "/sys"; tests bring their own.
 * Returns 0, or -1 with errno.
 */
int networks_find(struct networks *all,
                  const char *list,
                  int loopback,
                  const char *sysfs);

#endif
