/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bcast_message.h - what home and the nodes of a broadcast say to each other
 * beside the chunks (link.h), as bodies of message.h over the channels that
 * their users already have.
 *
 *   ORDER   home  id u32, flags u32, mode u32, mtime ns i64, way u32, port
 *                 u32, plan: bytes u64, nodes u32, branches u32, chunk u32,
 *                 taper u32, chunks u32, shape u32; destination text;
 *                 content blob: all of it if the data is small, else empty;
 *                 networks text: home's (network.h); cache text, cache bytes
 *                 u64, want blob (see below); origin blob
 *                 (bcast_origin.h), empty if nothing is replaced; begun u32
 *   SUM     home  id u32, digest u64     the digest of all chunks' digests
 *   DONE    node  id u32, errno u32, text, pulls u64, refused u64,
 *                 duplicate bytes u64    errno and text both empty: all well;
 *                 fabric bytes u64       that it has sent by libfabric;
 *                 threads u32            that received at a time, at most;
 *                 note text              that all is not quite as was asked;
 *                 want blob
 *   HELD    node  id u32, chunks u32     every second: so many it has, and
 *                                        has read back
 *   LOST    home  id u32, node u32       is not there (any more)
 *   END     home  id u32, 0 u32          no node needs another any more
 *
 * With ORDER_BEGIN a node makes the file with all the room that it needs, and says
 * DONE: nothing of it comes.  What comes then is a broadcast of its own, which names
 * the one that has begun it.  So the nodes can begin several before the first byte of
 * any.
 *
 * A tree of files comes so, too: first its index, which begins it, then the content
 * of its files one behind the other.  With ORDER_UPDATE or ORDER_CACHE a node says
 * in its DONE for the index which segments of files it has not got, as bits of
 * tree_want.h, and home's ORDER for the content says which it brings: those that
 * at least one node wants.  Else want is empty.
 *
 * Decoders return 0, or -1 if the body is not just what is said here; then
 * the message is zeroed.
 */
#ifndef PMIX_BCAST_BCAST_MESSAGE_H
#define PMIX_BCAST_BCAST_MESSAGE_H

#include "pmix_bcast/bytes.h"
#include "pmix_bcast/network.h"
#include "pmix_bcast/plan.h"

#define DESTINATION_MAX 4096u /* PATH_MAX */
#define BCAST_TEXT_MAX  512u

/* What goes over the wire: a change of these, of a body or of link.h is another
 * version of the protocol for the users of both, see message.h. */
enum bcast_kind {
    BCAST_ORDER = 0,
    BCAST_SUM = 1,
    BCAST_DONE = 2,
    BCAST_HELD = 3,
    BCAST_LOST = 4,
    BCAST_END = 5,
    BCAST_KINDS = 6,
};

enum order_flag {
    ORDER_FORCE = 1,     /* replace what is there */
    ORDER_STRICT = 2,    /* see relay.h */
    ORDER_VERIFY = 4,    /* read the file back before it counts */
    ORDER_TIMES = 8,     /* keep the source's time of change */
    ORDER_SYNC = 16,     /* it is on the disk when DONE is said */
    ORDER_INDEX = 32,    /* it is a tree's index (tree_index.h) */
    ORDER_TREE = 64,     /* the content of the tree that was begun */
    ORDER_UPDATE = 128,  /* of a tree: keep what is the same */
    ORDER_DELETE = 256,  /* and remove what it has not got; with UPDATE */
    ORDER_CACHE = 512,   /* of a tree: use the node's cache */
    ORDER_SINGLE = 1024, /* the tree is one file, in a folder */
    ORDER_PACKED = 2048, /* chunks may come compressed (packing.h) */
    ORDER_RAILS = 4096,  /* by several networks at once (rails.h) */
    ORDER_FABRIC = 8192, /* chunks may go by libfabric (transport.h): of a fast
                            network; */
    ORDER_ANY_FABRIC = 16384, /* with FABRIC: or of any */
    ORDER_THREADS = 15 << 15, /* how many an agent may have, see thread.h */
    ORDER_BEGIN = 1 << 19,    /* make the file, which comes later */
    ORDER_ALL = (1 << 20) - 1,
};

#define ORDER_THREADS_SHIFT 15u

struct bcast_order {
    uint32_t id, flags, mode;
    int64_t mtime_ns; /* since 1970 */
    uint32_t way;     /* enum pull_way */
    uint16_t port;    /* of home, for chunks */
    struct plan plan;
    char destination[DESTINATION_MAX]; /* absolute */
    const uint8_t *content;      /* in the body; NULL: it comes in chunks */
    struct networks networks;    /* of home, meant for chunks */
    char cache[DESTINATION_MAX]; /* with CACHE: absolute, or "" */
    uint64_t cache_bytes;        /* that it may have */
    const uint8_t *want;         /* in the body; NULL: none */
    size_t want_len;
    const uint8_t *origin; /* likewise */
    size_t origin_len;
    uint32_t begun; /* id of the broadcast that has begun it; 0: none has */
};

struct bcast_done {
    uint32_t id, error; /* errno, 0 if text says it all */
    char text[BCAST_TEXT_MAX];
    uint64_t pulls, refused, duplicates, fabric;
    uint32_t threads;
    char note[BCAST_TEXT_MAX];
    const uint8_t *want; /* in the body; NULL: none */
    size_t want_len;
};

void bcast_write_order(struct writer *w, const struct bcast_order *o);
int bcast_read_order(struct bcast_order *o, const uint8_t *body, size_t len);
void bcast_write_sum(struct writer *w, uint32_t id, uint64_t digest);
int bcast_read_sum(uint32_t *id,
                   uint64_t *digest,
                   const uint8_t *body,
                   size_t len);
void bcast_write_done(struct writer *w, const struct bcast_done *d);
int bcast_read_done(struct bcast_done *d, const uint8_t *body, size_t len);
/* HELD, LOST and END. */
void bcast_write_number(struct writer *w, uint32_t id, uint32_t number);
int bcast_read_number(uint32_t *id,
                      uint32_t *number,
                      const uint8_t *body,
                      size_t len);

#endif
