/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listener.h - takes in callers, and bounds those who have proved nothing.
 *
 * Anybody can connect.  So at most UNPROVEN_MAX connections wait in the
 * handshake at once, and the oldest of them makes room for the next.  A crowd
 * must not turn out honest callers, so callers are accepted in turns: after
 * TURN_CALLERS of them the listener pauses for PAUSE_MS, or until fewer than as
 * many are left in the handshake; the kernel keeps the rest.  If descriptors
 * run out the listener pauses for FULL_MS, and says so once.
 *
 * All functions and callbacks run on the event loop's thread.
 */
#ifndef PMIX_BCAST_LISTENER_H
#define PMIX_BCAST_LISTENER_H

#include "pmix_bcast/address.h"
#include "pmix_bcast/error.h"
#include "pmix_bcast/handshake.h"
#include "pmix_bcast/network.h"

#include <stdint.h>
#include <sys/queue.h>

#define UNPROVEN_MAX 64 /* connections */
#define TURN_CALLERS 32
#define PAUSE_MS     20   /* many times a handshake within a site */
#define FULL_MS      1000 /* some will have ended by then */

struct event_base;
struct listener;

struct port_range {
    uint16_t low, high; /* inclusive; 0, 0: any port */
};

/* Where callers come in: at these addresses; 0, or more than there is room for:
 * at every one. */
#define LISTEN_MAX 8u
struct listen_at {
    uint32_t n;
    struct address at[LISTEN_MAX];
};

/* One more, numeric; and those of ours that are meant for data. */
void listen_at_add(struct listen_at *l, const char *address);
void listen_at_networks(struct listen_at *l, const struct networks *ours);

struct listener_setup {
    struct event_base *base;
    const struct secret *secret; /* must outlive the listener */
    enum purpose purpose;        /* what callers are let in for */
    uint32_t self;               /* who we are */
    struct port_range ports;
    enum loopback loopback; /* only from this machine */
    /* Else only there, used during the call; NULL: at every address. */
    const struct listen_at *at;
    /* A caller: its descriptor, non-blocking and now the callee's, for
     * channel_take() or link_take(). */
    void (*called)(void *arg, struct listener *l, int fd);
    /* No more callers can be taken in for now, why in words; once.  May be
     * NULL. */
    void (*full)(void *arg, const char *why);
    void *arg;
};

/* Listen at one free port of the range, on all addresses that are asked for; where
 * one of these is not (yet) ours, on every one.  The setup is copied. */
int listener_open(struct listener **l,
                  const struct listener_setup *setup,
                  struct es_error *err);
uint16_t listener_port(const struct listener *l);
/* Set who we are, which is known only now; nobody was let in before. */
void listener_set_self(struct listener *l, uint32_t self);
/* End it, and every connection that has not proved itself; NULL is allowed. */
void listener_close(struct listener *l);

/* --- for connections ------------------------------------------------------ */

struct unproven { /* in a connection that was taken in */
    TAILQ_ENTRY(unproven) next;
    struct listener *listener; /* NULL: it is not, or not any more, unproven */
    /* End it, why in words, which its owner hears. */
    void (*end)(struct unproven *u, const char *why);
};

/* Begin the handshake's listening end, and count the connection. */
void listener_admit(struct listener *l,
                    struct unproven *u,
                    struct handshake *h);
/* It has proved itself, or ended; also if it had before. */
void listener_release(struct unproven *u);

#endif
