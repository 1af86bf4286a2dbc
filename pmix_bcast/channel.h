/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * channel.h - an authenticated TCP connection that carries whole messages.
 *
 * All functions and callbacks run on the event loop's thread.  Nothing but
 * the handshake (handshake.h) is taken before the other end has proved that it
 * knows the secret, and it has HANDSHAKE_MS for that.  Every message after it
 * is sealed (seal.h): head, body, tag.  A peer that has gone
 * silently (power, cable) is noticed by the kernel's own acknowledgements:
 * keep-alive probes are sent on an idle connection and a connection that has
 * seen no acknowledgement for SILENCE_MS is given up.  A peer that is merely
 * stopped (Ctrl-Z) or busy still acknowledges and is kept.
 */
#ifndef PMIX_BCAST_CHANNEL_H
#define PMIX_BCAST_CHANNEL_H

#include "pmix_bcast/error.h"
#include "pmix_bcast/handshake.h"
#include "pmix_bcast/listener.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define HANDSHAKE_MS 5000  /* several round trips on a bad day */
#define SILENCE_MS   10000 /* then an agent leaves, and its node is lost */

/* Why a connection has ended whose other end is a stranger: no use to call
 * again. */
#define CHANNEL_STRANGER "the other end cannot prove who it is"

struct event_base;
struct channel;

/* message() and closed() are always there; any other may be NULL. */
struct channel_events {
    /* The other end has proved itself; messages may be sent from now on. */
    void (*opened)(struct channel *c, void *arg);
    /* One whole message; body is valid during the call. */
    void (*message)(struct channel *c,
                    void *arg,
                    uint16_t type,
                    const uint8_t *body,
                    size_t len);
    /* What was queued has gone below the mark of channel_backlog_mark(). */
    void (*drained)(struct channel *c, void *arg);
    /* The connection has ended, why in words; c is freed after the call. */
    void (*closed)(struct channel *c, void *arg, const char *why);
};

/*
 * Connect to address; the caller's side of the handshake follows by itself,
 * for p's purpose and with its callee.  on and arg must outlive the channel.
 * Returns NULL with errno set.
 */
struct channel *channel_call(struct event_base *base,
                             const struct sockaddr *address,
                             socklen_t len,
                             const struct secret *secret,
                             const struct parties *p,
                             const struct channel_events *on,
                             void *arg);
/* The listener's side over a connected socket; takes over fd, also on
 * failure.  The oldest that has not proved itself may end in this call. */
struct channel *channel_take(struct event_base *base,
                             int fd,
                             struct listener *l,
                             const struct channel_events *on,
                             void *arg);
/* Change who hears the channel, e.g. once it is known which node it is. */
void channel_set_events(struct channel *c,
                        const struct channel_events *on,
                        void *arg);
int channel_is_open(const struct channel *c);
/* Who has called; as it has proved once the channel is open. */
uint32_t channel_caller(const struct channel *c);
/* Our own address on it: 0, or -1 (text is ""). */
int channel_here(const struct channel *c, char text[ADDRESS_MAX]);
/*
 * Queue one message.  Returns 0, or -1 if the channel is not open, the body is
 * over MESSAGE_BODY_MAX or memory ran out.
 */
int channel_send(struct channel *c,
                 uint16_t type,
                 const void *body,
                 size_t len);
/* Bytes queued and not yet with the kernel. */
size_t channel_backlog(const struct channel *c);
/* Hear drained() each time the backlog falls to bytes or less. */
void channel_backlog_mark(struct channel *c, size_t bytes);
/* Cut the connection; closed() follows from the loop, never from here. */
void channel_hang_up(struct channel *c);
/* End the connection without a word; NULL is allowed, and any callback. */
void channel_destroy(struct channel *c);

#endif
