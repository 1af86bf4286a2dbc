/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/pending.h"

#include <stdlib.h>
#include <unistd.h>

void pending_init(struct pending_list *list, void *owner)
{
    LIST_INIT(&list->first);
    list->owner = owner;
}

static struct pending *pending_create(struct pending_list *list, int fd)
{
    struct pending *p = calloc(1, sizeof *p);

    if (!p) {
        close(fd);
        return NULL;
    }
    p->owner = list->owner;
    LIST_INSERT_HEAD(&list->first, p, next);
    return p;
}

int pending_accept_channel(struct pending_list *list,
                           struct event_base *base,
                           int fd,
                           struct listener *l,
                           const struct channel_events *on)
{
    struct pending *p = pending_create(list, fd);

    if (!p)
        return -1;
    p->channel = channel_take(base, fd, l, on, p);
    if (p->channel)
        return 0;
    pending_leave(p);
    return -1;
}

int pending_accept_link(struct pending_list *list,
                        struct event_base *base,
                        int fd,
                        struct listener *l,
                        const struct link_events *on)
{
    struct pending *p = pending_create(list, fd);

    if (!p)
        return -1;
    p->link = link_take(base, fd, l, on, p);
    if (p->link)
        return 0;
    pending_leave(p);
    return -1;
}

void pending_leave(struct pending *p)
{
    LIST_REMOVE(p, next);
    free(p);
}

void pending_end(struct pending *p)
{
    channel_destroy(p->channel);
    link_destroy(p->link);
    pending_leave(p);
}

void pending_clear(struct pending_list *list)
{
    while (!LIST_EMPTY(&list->first))
        pending_end(LIST_FIRST(&list->first));
}
