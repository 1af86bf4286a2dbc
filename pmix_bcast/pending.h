/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pending.h - connections that have been accepted and have not said yet who
 * they are, or have said so and wait.
 *
 * Each belongs to the list of whoever was called.  It leaves the list when its
 * owner takes the connection over, or ends it.
 */
#ifndef PMIX_BCAST_PENDING_H
#define PMIX_BCAST_PENDING_H

#include "pmix_bcast/channel.h"
#include "pmix_bcast/link.h"

#include <sys/queue.h>

struct pending {
    LIST_ENTRY(pending) next;
    void *owner;             /* whoever was called */
    struct channel *channel; /* its connection is either a channel */
    struct link *link;       /* or a link */
    int has_said;            /* what it wants; it waits */
    uint32_t number;         /* of the one who calls, or of what it wants */
    int answer_due;          /* to a question that it has asked */
};

struct pending_list {
    LIST_HEAD(pending_head, pending) first;
    void *owner;
};

void pending_init(struct pending_list *list, void *owner);
/*
 * Accept a connected socket, as channel_take() and link_take() do; the events'
 * argument is a struct pending.  fd is closed on failure.  Returns 0, or -1 if
 * memory ran out.
 */
int pending_accept_channel(struct pending_list *list,
                           struct event_base *base,
                           int fd,
                           struct listener *l,
                           const struct channel_events *on);
int pending_accept_link(struct pending_list *list,
                        struct event_base *base,
                        int fd,
                        struct listener *l,
                        const struct link_events *on);
/* Take it off the list and free it; its connection stays as it is, and is the
 * caller's. */
void pending_leave(struct pending *p);
/* Take it off the list, with its connection. */
void pending_end(struct pending *p);
/* End all. */
void pending_clear(struct pending_list *list);

#endif
