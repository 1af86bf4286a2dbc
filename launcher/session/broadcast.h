/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * broadcast.h - a broadcast to the nodes of a session: what `evenstep bcast`
 * and the start of a job step have in common.
 */
#ifndef LAUNCHER_SESSION_BROADCAST_H
#define LAUNCHER_SESSION_BROADCAST_H

#include "launcher/config/config.h"
#include "launcher/session/broadcast_part.h"
#include "launcher/session/broadcast_top.h"
#include "launcher/session/session.h"
#include "launcher/session/standstill.h"

struct broadcast {
    struct session *session;
    struct event_base *base;
    struct broadcast_part *part; /* n_parts, owned */
    size_t n_parts;
    size_t at;         /* the part that is at work */
    size_t first, end; /* those that are begun before their content comes ... */
    int begins;        /* ... which has not come yet */
    int all;           /* what one node cannot have, none gets */
    const char *source; /* of the part, for top */
    struct bcast_home *home;
    struct broadcast_before *before;
    struct es_error err; /* home is NULL: why */
    struct standstill *standstill;
    struct broadcast_top top;
    void (*ended)(void *arg);
    void *arg;
};

/* What the configuration says of every broadcast; the files' names are still
 * to be set. */
struct bcast_wish broadcast_wish(const struct config_bcast *config,
                                 uint32_t flags);
/* Check that the source, a file or a folder, can be read, before anything is
 * started. */
int broadcast_source(const char *source, struct es_error *err);
int broadcast_is_folder(const char *source);
/* Make the destination that the user gave absolute; that of a folder may end with a
 * slash. */
int broadcast_destination(char out[DESTINATION_MAX],
                          const char *source,
                          const char *text,
                          struct es_error *err);
/* The nodes' folder of --cache=DIR, or with "" that of this user where the
 * configuration has them. */
int broadcast_cache(char out[DESTINATION_MAX],
                    const char *given,
                    const struct config_bcast *config,
                    struct es_error *err);

/*
 * Start, once the session is ready.  ended() is called once, from the loop,
 * unless broadcast_stop() comes before.  What wish points to must last until
 * then.  The source is a file.
 */
int broadcast_start(struct broadcast *b,
                    struct event_base *base,
                    struct session *session,
                    const struct bcast_wish *wish,
                    void (*ended)(void *arg),
                    void *arg,
                    struct es_error *err);
/*
 * Likewise, of one input or several, one after the other: of a program the libs come
 * first, so that whoever sees it has them.  Each node is asked for the room for all of
 * them before the first byte of any is sent, but for what goes into another one's
 * place: that cannot be begun before the other is there.  A node that fails gets nothing
 * more; with all none does.  The array need not last.
 */
int broadcast_start_inputs(struct broadcast *b,
                           struct event_base *base,
                           struct session *session,
                           const struct broadcast_input *input,
                           size_t n,
                           int all,
                           void (*ended)(void *arg),
                           void *arg,
                           struct es_error *err);
/* Number of the input that was last at work. */
size_t broadcast_input_at(const struct broadcast *b);
/* A node's message: 1 if it belongs to the broadcast.  And a node that is
 * lost. */
int broadcast_message(struct broadcast *b,
                      size_t node,
                      uint16_t type,
                      const uint8_t *body,
                      size_t len);
void broadcast_lost(struct broadcast *b, size_t node, const char *why);
/* What has become of it, once it has ended. */
struct broadcast_result {
    struct bcast_result home; /* of the file, or the tree's content */
    uint64_t bytes;           /* without holes */
    uint64_t home_bytes;
    uint64_t sent;     /* of bytes: what was not there already */
    uint32_t files;    /* and folders and links, of a tree; 0: a file */
    uint64_t left_out; /* sockets, pipes, devices */
    uint64_t used;     /* see struct tree_found */
    double seconds;
};
/* Where broadcast_error() says ES_OK. */
struct broadcast_result broadcast_result(const struct broadcast *b);
/* Why nobody has it; kind is ES_OK if somebody has. */
const struct es_error *broadcast_error(const struct broadcast *b);
/* Say on stderr which nodes failed, and why; 0, or -1 and err filled. */
int broadcast_check(const struct broadcast *b, struct es_error *err);
/* Forget it, before the session is closed. */
void broadcast_stop(struct broadcast *b);

#endif
