/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link.h - an authenticated TCP connection that carries chunks between two
 * nodes of a broadcast, as fast as the kernel can.
 *
 * Unlike a channel it holds no queue: when the socket can take more it asks
 * its owner what comes next, so that the choice is made late; a chunk goes
 * from the page cache to the socket by sendfile(2) and from the socket right
 * into the owner's buffer.  A message is LINK_HEAD bytes, integers
 * big-endian, then a chunk's bytes:
 *
 *   offset  size  field
 *        0    12  envelope    message.h; its length counts what follows
 *       12     4  broadcast   which one this belongs to; in an exchange the
 *                             file's number
 *       16     4  chunk       its index; LACK: why, an errno value
 *       20     4  flags       LINK_AS_ROOT, LINK_LZ4, LINK_ZSTD
 *       24     8  bytes       ASK: how many the whole file has; LZ4, ZSTD:
 *                             how many these are when they are opened; HAVE:
 *                             how many chunks
 *       32    16  digest      CHUNK: what its bytes are checked by, see
 *                             bcast_node.h and exchange.h
 *       48    16  tag         of all before it, see seal.h
 *       64     n  the bytes   (LINK_CHUNK, LINK_FABRIC only)
 *    64 + n    16  tag         of the bytes, if they are encrypted or compressed
 *
 * A head cannot be forged, and its digest speaks for the bytes: so these need
 * not be read to be sent.  Encrypted or compressed ones are, and sealed as the
 * next message of this direction, so that nothing is opened that is not what
 * the other end has sent.
 *
 * All callbacks come from the event loop.
 */
#ifndef PMIX_BCAST_LINK_H
#define PMIX_BCAST_LINK_H

#include "pmix_bcast/listener.h"
#include "pmix_bcast/message.h"
#include "pmix_bcast/packing.h"
#include "pmix_bcast/seal.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#define LINK_HEAD    64u
#define LINK_AS_ROOT 1u /* see relay.h */
#define LINK_LZ4     2u /* the bytes are compressed; the owner never sees it */
#define LINK_ZSTD    4u
/* Never sent: the bytes of a chunk have come by libfabric.  If they are not
 * right that is no fault of the peer's, who is asked for them over the link. */
#define LINK_BY_FABRIC 8u

enum link_type {
    LINK_HELLO = 272, /* the first of a caller: what for */
    LINK_CHUNK = 273,
    LINK_PULL = 274,
    LINK_ABSENT = 275,
    LINK_CANCEL = 276,
    LINK_RELAYED = 277,
    LINK_GREET = 278, /* "can you be reached?", of no broadcast */
    LINK_GREETED = 279,
    LINK_ASK = 280,  /* in an exchange (exchange.h): send me that file */
    LINK_LACK = 281, /* I cannot */
    /* For the lane beside the link (fabric.h); its owner never sees them. */
    LINK_FABRIC = 282,  /* with bytes: fabric_message.h, and their digest */
    LINK_PLACED = 283,  /* as CHUNK, whose bytes stand in the next slot; bytes:
                          how many there are, and above 2^32 what CHUNK says */
    LINK_FREED = 284,   /* chunk: so many slots were freed, modulo 2^32 */
    LINK_REFUSED = 285, /* likewise, and what stood in the next is not right */
    /* From chunk on I had so many (bytes) before the broadcast; 0: that is all. */
    LINK_HAVE = 286,
};

struct link_head {
    uint16_t type;
    uint32_t broadcast, chunk, flags;
    uint64_t bytes;
    uint8_t digest[TAG_BYTES];
    uint32_t size;  /* of the bytes that follow */
    int is_checked; /* never sent: check() has said that they are right */
};

/*
 * All but the tag.  link_head_decode(): 0, or -1 if this is no head, or
 * announces more than size_max bytes, or bytes where there are none (*h
 * zeroed).  tail: what follows bytes that are not compressed, 0 or TAG_BYTES;
 * link_head_tail(): what follows those of this head.
 */
uint32_t link_head_tail(const struct link_head *h, uint32_t tail);
int link_head_is_packed(const struct link_head *h);
int link_head_decode(struct link_head *h,
                     const uint8_t buf[LINK_HEAD],
                     uint32_t size_max,
                     uint32_t tail);
void link_head_encode(uint8_t buf[LINK_HEAD],
                      const struct link_head *h,
                      uint32_t tail);

struct event_base;
struct fabric;
struct link;
struct receivers;

/* taken() and closed() are always there; any other may be NULL. */
struct link_events {
    /* Both ends have proved that they know the secret; next() follows. */
    void (*opened)(struct link *l, void *arg);
    /* A chunk comes: where h->size bytes go, valid until taken() or the end;
     * NULL, or no place(): they are thrown away. */
    uint8_t *(*place)(struct link *l, void *arg, const struct link_head *h);
    /* Before the first byte is put there; this may take time.  Returns place, or
     * where they go instead, likewise.  And: are these bytes right?  0, or an errno
     * value; it is asked only where a thread has time for it.  With
     * link_set_receivers() both are called in a thread, while the loop does not
     * call anything for this chunk. */
    uint8_t *(*ready)(void *arg, const struct link_head *h, uint8_t *place);
    int (*check)(void *arg, const struct link_head *h, const uint8_t *bytes);
    /* A message is whole.  bytes: what place() said.  Returns 0, or -1 if
     * the peer does not keep to the protocol: the link ends, closed()
     * follows. */
    int (*taken)(struct link *l,
                 void *arg,
                 const struct link_head *h,
                 const uint8_t *bytes);
    /* What to send next: 1, with h and for a chunk the file's bytes from at
     * on, or fd -1: those that read() gives; 0 if nothing: link_wake() when
     * there is. */
    int (*next)(
        struct link *l, void *arg, struct link_head *h, int *fd, off_t *at);
    /* Fill in the chunk's bytes: 0, or an errno value, which ends the link. */
    int (*read)(struct link *l,
                void *arg,
                const struct link_head *h,
                uint8_t *bytes);
    /* That message is with the kernel. */
    void (*sent)(struct link *l, void *arg, const struct link_head *h);
    /* The connection has ended, why in words; l is freed after the call. */
    void (*closed)(struct link *l, void *arg, const char *why);
};

/* Connect, or take a connected socket over (fd is closed on failure, too), as
 * channel.h does; NULL with errno set.  on and arg must outlive the link. */
struct link *link_call(struct event_base *base,
                       const struct sockaddr *address,
                       socklen_t len,
                       const struct secret *secret,
                       const struct parties *p,
                       const struct link_events *on,
                       void *arg);
struct link *link_take(struct event_base *base,
                       int fd,
                       struct listener *l,
                       const struct link_events *on,
                       void *arg);
void link_set_events(struct link *l, const struct link_events *on, void *arg);
int link_is_open(const struct link *l);
/* Has the other end's kernel not answered our call yet? */
int link_is_calling(const struct link *l);
/* Who has called; as it has proved once the link is open. */
uint32_t link_caller(const struct link *l);
/* Our own address on it (IPv4 as ::ffff:a.b.c.d): 0, or -1. */
int link_here(const struct link *l, uint8_t ip[16]);
/* The largest chunk that is let in, and how much the kernel may hold that is
 * not yet on its way; before chunks come. */
void link_set_chunk(struct link *l, uint32_t bytes);
/* Chunks may travel compressed from now on: those that this, which must outlive
 * the link, says so, and those that come. */
void link_set_packing(struct link *l, struct packing *packing);
/* Threads take chunks' bytes from now on, where these come neither encrypted nor
 * compressed nor by libfabric.  r must outlive the link, and stays;
 * NULL, or without memory: none do. */
void link_set_receivers(struct link *l, struct receivers *r);
/* Chunks may go by libfabric from now on, and if takes is not 0 may so come;
 * where the other end does the same.  f must outlive the link; NULL, or one that
 * is not open: they do not.  After link_set_chunk(). */
void link_set_fabric(struct link *l, struct fabric *f, int takes);
/* Read nothing (on != 0) until it is held no more: what comes waits in the
 * kernel.  Held in taken() of a message that is no chunk, so does the next
 * one.  Returns 0, or -1 if it cannot go on. */
int link_hold(struct link *l, int on);
/* next() has something again; it is called from the loop, not from here. */
void link_wake(struct link *l);
/* What place() said is valid no more: what comes now is thrown away. */
void link_forget_place(struct link *l);
/* Is this chunk (LINK_EACH: any) being read to its place? */
#define LINK_EACH UINT32_MAX
int link_is_taking(const struct link *l, uint32_t chunk);
/* Bytes that the kernel holds and the peer has not acknowledged, and what of
 * the message at hand is still to go there. */
uint64_t link_queued(const struct link *l);
uint64_t link_bytes_sent(const struct link *l);
/* Has something come that the other end has not sent so?  For closed(). */
int link_is_changed(const struct link *l);
/* End it without a word; NULL is allowed, and any callback. */
void link_destroy(struct link *l);

#endif
