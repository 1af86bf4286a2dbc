/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * address.h - numeric addresses of IPv4 and IPv6, as text and for sockets.
 *
 * A link-local address of IPv6 has its interface behind it: "fe80::1%eth0".
 * An IPv4 address that IPv6 has mapped, "::ffff:10.0.0.1", is written as IPv4.
 * No name is ever looked up here.
 */
#ifndef PMIX_BCAST_ADDRESS_H
#define PMIX_BCAST_ADDRESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* A numeric address with its NUL: INET6_ADDRSTRLEN, '%' and IFNAMSIZ. */
#define ADDRESS_MAX 64
/* "[ADDRESS]:PORT" with its NUL. */
#define ADDRESS_PORT_MAX (ADDRESS_MAX + 8)

struct address {
    struct sockaddr_storage at;
    socklen_t len;
};

enum loopback {
    LOOPBACK_NO = 0,
    LOOPBACK_IPV4 = 1, /* 127.0.0.0/8 */
    LOOPBACK_IPV6 = 2, /* ::1 */
};

/* 0, or -1 if text is no numeric address, or names an interface that is not
 * here (*a zeroed). */
int address_parse(struct address *a, const char *text, uint16_t port);
/* Of 16 bytes, IPv4 as ::ffff:a.b.c.d; scope: the interface's number, for a
 * link-local one. */
void address_of_bytes(struct address *a,
                      const uint8_t ip[16],
                      uint32_t scope,
                      uint16_t port);
/* And back; 0, or -1 if from is of another family (ip zeroed). */
int address_bytes(uint8_t ip[16], const struct sockaddr *from);
/* 0, or -1 if from is of another family (text is ""). */
int address_format(char text[ADDRESS_MAX], const struct sockaddr *from);
uint16_t address_port(const struct sockaddr *from);
void address_set_port(struct address *a, uint16_t port);

/*
 * "10.0.0.1:4000", "[fe80::1%eth0]:4000", as they stand in a URL: so that it is
 * plain where an address ends.  address_split() takes an empty address, too, and
 * looks at the port only; 0, or -1 if text is no such thing.
 */
void address_join(char text[ADDRESS_PORT_MAX],
                  const char *address,
                  uint16_t port);
int address_split(char address[ADDRESS_MAX], uint16_t *port, const char *text);

/* Does it lead to this machine only? */
enum loopback address_loopback(const char *text);
/* What agents of --local are to use: IPv4's if this machine has it. */
enum loopback address_own_loopback(void);
/* Where one listens if all others are on this machine, too, or are not. */
enum loopback address_loopback_for(int all_here);
const char *address_loopback_text(enum loopback which);

/* The address of this end on the way to `to`: 0, or -1 with errno if there is
 * no way.  Nothing is sent. */
int address_towards(struct address *own, const struct address *to);

#endif
