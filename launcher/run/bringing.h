/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bringing.h - brings the files of --bcast to all nodes, one after the other,
 * before the first frame.
 */
#ifndef LAUNCHER_RUN_BRINGING_H
#define LAUNCHER_RUN_BRINGING_H

#include "launcher/run/run_options.h"
#include "launcher/session/broadcast.h"

struct event;

struct bringing { /* all zero: nothing was started */
    struct broadcast broadcast;
    char source[DESTINATION_MAX], destination[DESTINATION_MAX];
    char cache[DESTINATION_MAX];
    struct bcast_wish wish;
    struct event_base *base;
    struct session *session;
    const struct run_options *o;
    size_t at; /* of o->bcast */
    struct event *next;
    void (*ended)(void *arg, int failed);
    void *arg;
    struct es_error *err;
};

/* Are they files that can be read, with a place to go to, and so the cache?
 * ES_USAGE, ES_WORK */
int bringing_check(const struct run_options *o,
                   const struct config_bcast *config,
                   struct es_error *err);
/*
 * Start.  ended() is called once, from the loop: all nodes that are present
 * have all files, or (failed, err filled) not.  What nodes say of it, and who
 * is lost, is for b->broadcast.  Returns 0, or -1 and err filled.
 */
int bringing_start(struct bringing *b,
                   struct event_base *base,
                   struct session *session,
                   const struct run_options *o,
                   const struct config_bcast *config,
                   void (*ended)(void *arg, int failed),
                   void *arg,
                   struct es_error *err);
/* Forget it, before the session is closed. */
void bringing_stop(struct bringing *b);

#endif
