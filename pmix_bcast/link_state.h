/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link_state.h - what the files of a link share; for them alone.
 *
 *   link_begin.c    who calls, who takes the call
 *   link_send.c     from the owner to the socket
 *   link_wake.c     that there is something to send
 *   link_receive.c  from the socket to the owner
 *   link_aside.c    a chunk's bytes, by a thread (receivers.h)
 *   link_load.c     the bytes of what is sent next
 *   link_lane.c     bytes that go by libfabric (link_lane.h)
 *   link_pack.c     bytes that travel compressed
 *   link_end.c      giving up
 *   link_head.c     the heads of messages
 */
#ifndef PMIX_BCAST_LINK_STATE_H
#define PMIX_BCAST_LINK_STATE_H

#include "pmix_bcast/link.h"
#include "pmix_bcast/receivers.h"

#include <event2/event.h>

enum stage { CALLING, SHAKING, OPEN, DEAD };

/* Above a head and every message of the handshake. */
#define IN_MAX (MESSAGE_HEAD + HANDSHAKE_MAX)
_Static_assert(IN_MAX >= LINK_HEAD, "a head has room");

struct link {
    enum stage stage;
    int fd, busy; /* busy: callbacks of this link now on the stack */
    int held, is_caller;
    struct event *readable, *writable, *timer;
    struct handshake handshake;
    struct unproven unproven;
    struct seal *seal_out, *seal_in; /* once it is open */
    uint32_t tail;  /* what follows bytes that are not compressed: TAG_BYTES if
                       they are encrypted */
    int is_changed; /* see link_is_changed() */
    const struct link_events *on;
    void *arg;
    uint32_t chunk_max;
    struct fabric_place *offered; /* came before we have a lane; owned */
    struct link_lane *lane;       /* beside it; NULL: none */
    struct packing *packing; /* the owner's; NULL: chunks travel as they are */
    /* What comes in: a head, then its bytes. */
    uint8_t in[IN_MAX], *place, *sink;
    size_t in_len, got;
    struct link_head head;
    int in_bytes;                  /* the head has come, its bytes are due */
    struct reception *reception;   /* NULL: the loop takes all bytes */
    int is_aside;                  /* these are a thread's */
    void (*whole)(struct link *l); /* then: all of the message is there */
    /* What goes out: likewise; its bytes from the file, or loaded ones, with
     * their tag if they have one. */
    uint8_t out[IN_MAX];
    size_t out_len, out_done;
    struct link_head sending;
    int is_sending, file;
    off_t at;
    uint8_t *loaded;
    int is_loaded; /* not from the file */
    size_t left;
    uint64_t bytes_sent;
    int has_spoken; /* the owner has said something */
    int is_quiet;   /* what is sent is not the owner's, or it was told */
};

/* The connection is broken: the owner is told, once. */
void link_give_up(struct link *l, const char *why);
/* Free what was given up, if none of its callbacks is on the stack. */
void link_release(struct link *l);

/* Send until the socket is full, there is nothing more, or a chunk is sent:
 * then the other links have their turn. */
void link_send(struct link *l);
void link_queue_handshake(struct link *l,
                          uint16_t type,
                          const uint8_t *body,
                          size_t len);

/* link_pack.c: the chunk that is sent next, compressed in l->loaded if that is
 * wanted and makes it smaller; and the one that has come, opened where its owner
 * wants it.  Return 0, or -1: the link is broken. */
int link_pack(struct link *l);
int link_unpack(struct link *l);
/* link_load.c: room for what is sent next in l->loaded; and put it there.  Return
 * 0, or -1 with errno set. */
int link_room(struct link *l);
/* Room in l->sink for a chunk that comes, and has no place (yet); likewise. */
int link_sink(struct link *l);
int link_read(struct link *l);

/* link_aside.c: a thread takes the bytes that are due to l->place: 1, and whole()
 * follows; 0: it does not.  Until all have come, or the loop takes it back, nothing
 * is read here. */
int link_begin_aside(struct link *l, void (*whole)(struct link *l));
/* The loop goes on with them; 1: once l->place is ready. */
int link_take_back(struct link *l);

/* link_load.c: l->place made ready, before the first byte. */
void link_ready(struct link *l);

/* The socket can be read. */
void link_on_readable(evutil_socket_t fd, short what, void *arg);

#endif
