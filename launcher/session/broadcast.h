/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * broadcast.h - a broadcast to the nodes of a session: what `evenstep bcast`
 * and the start of a job step have in common.
 */
#ifndef LAUNCHER_SESSION_BROADCAST_H
#define LAUNCHER_SESSION_BROADCAST_H

#include "launcher/config/config.h"
#include "launcher/session/broadcast_top.h"
#include "launcher/session/session.h"
#include "launcher/session/standstill.h"
#include "pmix_bcast/bcast_home.h"

struct broadcast {
    struct session *session;
    struct bcast_home *home;
    struct standstill *standstill;
    struct broadcast_top top;
    void (*ended)(void *arg);
    void *arg;
};

/* What the configuration says of every broadcast; the files' names are still
 * to be set. */
struct bcast_wish broadcast_wish(const struct config_bcast *config,
                                 uint32_t flags);
/* Check that the source can be read, before anything is started. */
int broadcast_source(const char *source, struct es_error *err);
/* Make the destination that the user gave absolute. */
int broadcast_destination(char out[DESTINATION_MAX],
                          const char *text,
                          struct es_error *err);

/*
 * Start, once the session is ready.  ended() is called once, from the loop,
 * unless broadcast_stop() comes before.  What wish points to must last until
 * then.
 */
int broadcast_start(struct broadcast *b,
                    struct event_base *base,
                    struct session *session,
                    const struct bcast_wish *wish,
                    void (*ended)(void *arg),
                    void *arg,
                    struct es_error *err);
/* A node's message: 1 if it belongs to the broadcast.  And a node that is
 * lost. */
int broadcast_message(struct broadcast *b,
                      size_t node,
                      uint16_t type,
                      const uint8_t *body,
                      size_t len);
void broadcast_lost(struct broadcast *b, size_t node, const char *why);
/* Say on stderr which nodes failed, and why; 0, or -1 and err filled. */
int broadcast_check(const struct broadcast *b, struct es_error *err);
/* Forget it, before the session is closed. */
void broadcast_stop(struct broadcast *b);

#endif
