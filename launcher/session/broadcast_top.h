/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * broadcast_top.h - what `evenstep top` shows of a broadcast: what each node has
 * of the file, and how fast it gets the rest (top_file.h).
 */
#ifndef LAUNCHER_SESSION_BROADCAST_TOP_H
#define LAUNCHER_SESSION_BROADCAST_TOP_H

#include "launcher/session/session.h"
#include "launcher/session/top_place.h"
#include "pmix_bcast/bcast_home.h"

struct event;

struct broadcast_top { /* all zero: not started */
    struct top_place place;
    const struct session *session;
    struct bcast_home *const *home; /* each part has its own */
    const char *const *source;      /* of that which is at work */
    struct top_part *part;          /* n, one a node */
    size_t n;
    struct event *look;
};

/* The broadcast has been started; what is given must outlive this.  Without
 * memory nothing is shown. */
void broadcast_top_start(struct broadcast_top *t,
                         struct event_base *base,
                         const struct session *session,
                         struct bcast_home *const *home,
                         const char *const *source);
/* Before the broadcast is forgotten. */
void broadcast_top_stop(struct broadcast_top *t);

#endif
