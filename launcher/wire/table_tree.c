/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/wire/table_tree.h"
#include "launcher/base/file_limit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

struct peer { /* a child, or who has called at the door */
    LIST_ENTRY(peer) next;
    struct table_tree *tree;
    struct channel *channel;
    uint32_t rank; /* of a child */
};

struct table_tree {
    struct table_tree_setup s;
    struct listener *door;
    LIST_HEAD(peer_list, peer) peers;
    uint8_t *body; /* on its way to the children */
    size_t len;
};

uint32_t table_branches(uint32_t agents)
{
    return agents > TABLE_DIRECT_MAX ? TABLE_BRANCHES : 0;
}

uint64_t table_first_child(uint32_t branches, uint32_t rank)
{
    return (uint64_t)branches * ((uint64_t)rank + 1);
}

static void peer_remove(struct peer *p)
{
    LIST_REMOVE(p, next);
    free(p);
}

static void peer_add(struct peer *p)
{
    LIST_INSERT_HEAD(&p->tree->peers, p, next);
}

static void peer_drop(struct peer *p)
{
    channel_destroy(p->channel);
    peer_remove(p);
}

/* --- at the door ---------------------------------------------------------- */

static void on_parent_opened(struct channel *c, void *arg)
{
    (void)c;
    (void)arg;
}

static void on_parent_message(struct channel *c,
                              void *arg,
                              uint16_t type,
                              const uint8_t *body,
                              size_t len)
{
    struct peer *p = arg;
    struct table_tree *t = p->tree;

    if (type != MSG_FENCE || t->s.on->receive(t->s.arg, body, len) < 0)
        peer_drop(p);
    else if (channel_send(c, MSG_TAKEN, NULL, 0) < 0)
        channel_hang_up(c);
}

/* Ours, too, once it has the answer. */
static void on_parent_closed(struct channel *c, void *arg, const char *why)
{
    (void)c;
    (void)why;
    peer_remove(arg);
}

static const struct channel_events parent_events = {
    .opened = on_parent_opened,
    .message = on_parent_message,
    .closed = on_parent_closed,
};

static void on_called(void *arg, struct listener *l, int fd)
{
    struct table_tree *t = arg;
    struct peer *p = calloc(1, sizeof *p);

    if (!p) {
        close(fd);
        return;
    }
    p->tree = t;
    p->channel = channel_take(t->s.base, fd, l, &parent_events, p);
    if (p->channel)
        peer_add(p);
    else
        free(p);
}

/* --- to the children ------------------------------------------------------ */

static void on_child_opened(struct channel *c, void *arg)
{
    const struct peer *p = arg;

    if (channel_send(c, MSG_FENCE, p->tree->body, p->tree->len) < 0)
        channel_hang_up(c);
}

static void child_missed(struct peer *p)
{
    struct table_tree *t = p->tree;
    uint32_t rank = p->rank;

    peer_remove(p);
    t->s.on->missed(t->s.arg, rank);
}

static void on_child_message(struct channel *c,
                             void *arg,
                             uint16_t type,
                             const uint8_t *body,
                             size_t len)
{
    (void)body;
    (void)len;
    if (type == MSG_TAKEN)
        peer_drop(arg);
    else
        channel_hang_up(c);
}

static void on_child_closed(struct channel *c, void *arg, const char *why)
{
    (void)c;
    (void)why;
    child_missed(arg);
}

static const struct channel_events child_events = {
    .opened = on_child_opened,
    .message = on_child_message,
    .closed = on_child_closed,
};

static void call_child(struct table_tree *t,
                       uint32_t rank,
                       const struct endpoint *e)
{
    const struct parties parties = {PURPOSE_TABLE, t->s.self, rank};
    struct address to;
    struct peer *p = calloc(1, sizeof *p);

    if (p && address_parse(&to, e->address, e->door) == 0)
        p->channel =
            channel_call(t->s.base, (const struct sockaddr *)&to.at, to.len,
                         t->s.secret, &parties, &child_events, p);
    if (!p || !p->channel) {
        free(p);
        t->s.on->missed(t->s.arg, rank);
        return;
    }
    p->tree = t;
    p->rank = rank;
    peer_add(p);
}

/* --- the tree ------------------------------------------------------------- */

int table_tree_open(struct table_tree **out,
                    const struct table_tree_setup *setup,
                    struct es_error *err)
{
    struct table_tree *t = calloc(1, sizeof *t);
    const struct listener_setup door = {.base = setup->base,
                                        .secret = setup->secret,
                                        .purpose = PURPOSE_TABLE,
                                        .self = setup->self,
                                        .ports = setup->ports,
                                        .loopback = setup->loopback,
                                        .called = on_called,
                                        .full = file_limit_reached,
                                        .arg = t};

    if (!t)
        return es_no_memory(err);
    t->s = *setup;
    LIST_INIT(&t->peers);
    if (listener_open(&t->door, &door, err) < 0) {
        free(t);
        return -1;
    }
    *out = t;
    return 0;
}

uint16_t table_tree_door(const struct table_tree *t)
{
    return listener_port(t->door);
}

void table_tree_pass(struct table_tree *t,
                     const struct wireup *w,
                     uint32_t branches,
                     const uint8_t *body,
                     size_t len)
{
    uint64_t first = table_first_child(branches, w->rank);
    uint64_t end = first + branches;

    listener_close(t->door);
    t->door = NULL;
    if (first >= w->size)
        return;
    t->body = malloc(len);
    if (t->body)
        memcpy(t->body, body, len);
    t->len = len;
    for (uint64_t i = first; i < end && i < w->size; i++)
        if (t->body)
            call_child(t, (uint32_t)i, &w->agent[i]);
        else
            t->s.on->missed(t->s.arg, (uint32_t)i);
}

void table_tree_close(struct table_tree *t)
{
    int saved = errno;

    if (!t)
        return;
    while (!LIST_EMPTY(&t->peers))
        peer_drop(LIST_FIRST(&t->peers));
    listener_close(t->door);
    free(t->body);
    free(t);
    errno = saved;
}
