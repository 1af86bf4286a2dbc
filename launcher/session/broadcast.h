/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * broadcast.h - a broadcast to the nodes of a session: what `evenstep bcast`
 * and the start of a job step have in common.
 */
#ifndef LAUNCHER_SESSION_BROADCAST_H
#define LAUNCHER_SESSION_BROADCAST_H

#include "launcher/config/config.h"
#include "launcher/session/broadcast_top.h"
#include "launcher/session/libs.h"
#include "launcher/session/session.h"
#include "launcher/session/standstill.h"
#include "pmix_bcast/bcast_home.h"
#include "pmix_bcast/tree_source.h"

struct broadcast {
    struct session *session;
    struct event_base *base;
    struct bcast_wish wish;
    struct bcast_home *home;
    struct broadcast_tree *tree; /* NULL: it is a file without holes */
    char *file; /* its source, where that is a file with some */
    struct broadcast_before *before;
    const struct libs *libs;         /* to come first, or at work; NULL: none */
    struct bcast_wish program;       /* whose they are */
    const struct tree_wish *sources; /* likewise */
    struct es_error err;             /* home is NULL: why */
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
/* Likewise, of sources with all that is in them: wish->source is not used.  NULL: it
 * is the file that wish names.  If that is a program its libs come first (NULL:
 * none), so that whoever sees it has them.  All must last until the end, too. */
int broadcast_start_program(struct broadcast *b,
                            struct event_base *base,
                            struct session *session,
                            const struct bcast_wish *wish,
                            const struct tree_wish *sources,
                            const struct libs *libs,
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
/* What has become of it, once it has ended. */
struct broadcast_result {
    struct bcast_result home; /* of the file, or the tree's content */
    uint64_t bytes;           /* without holes */
    uint64_t home_bytes;
    uint64_t sent;     /* of bytes: what was not there already */
    uint32_t files;    /* and folders and links, of a tree; 0: a file */
    uint64_t left_out; /* sockets, pipes, devices */
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
