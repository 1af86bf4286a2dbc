/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bringing.h - brings the files of a list to all nodes before the first frame.
 */
#ifndef LAUNCHER_RUN_BRINGING_H
#define LAUNCHER_RUN_BRINGING_H

#include "launcher/run/bring_list.h"
#include "launcher/session/broadcast.h"

struct bringing { /* all zero: nothing was started */
    struct broadcast broadcast;
    const struct bring_list *list;
    struct session *session;
    struct event *over;
    void (*ended)(void *arg, int failed);
    void *arg;
    struct es_error *err;
};

/*
 * Start.  ended() is called once, from the loop: all nodes that are present
 * have all files, or (failed, err filled) not.  What nodes say of it, and who
 * is lost, is for b->broadcast.  The list, which is not empty, must last until
 * bringing_stop().  Returns 0, or -1 and err filled.
 */
int bringing_start(struct bringing *b,
                   struct event_base *base,
                   struct session *session,
                   const struct run_options *o,
                   const struct bring_list *list,
                   const struct config_bcast *config,
                   void (*ended)(void *arg, int failed),
                   void *arg,
                   struct es_error *err);
/* Forget it, before the session is closed. */
void bringing_stop(struct bringing *b);

#endif
