/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/wire/table_tree.h"
#include "launcher/base/file_limit.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/time.h>
#include <unistd.h>

#define IDLE_S 10 /* a connection to a child is not kept for longer */

struct waiting { /* for the connection to a child to be open */
    STAILQ_ENTRY(waiting) next;
    uint16_t type;
    size_t len;
    uint8_t body[];
};

struct peer { /* a child, or who has called at the door */
    LIST_ENTRY(peer) next;
    struct table_tree *tree;
    struct channel *channel;
    int is_child;
    uint32_t rank; /* of a child */
    int owes;      /* it has not taken the table yet */
    STAILQ_HEAD(waiting_list, waiting) queue;
};

struct table_tree {
    struct table_tree_setup s;
    uint32_t self;
    struct listener *door;
    struct event *idle;
    int is_used; /* since it was looked at last */
    LIST_HEAD(peer_list, peer) peers;
};

uint32_t table_branches(uint32_t agents, int by_tcp)
{
    uint32_t direct = by_tcp ? TABLE_BRANCHES : TABLE_FETCH_MAX;

    return agents > direct ? TABLE_BRANCHES : 0;
}

uint64_t table_first_child(uint32_t branches, uint32_t rank)
{
    return (uint64_t)branches * ((uint64_t)rank + 1);
}

static struct peer *peer_add(struct table_tree *t)
{
    struct peer *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->tree = t;
    STAILQ_INIT(&p->queue);
    LIST_INSERT_HEAD(&t->peers, p, next);
    return p;
}

static void peer_remove(struct peer *p)
{
    struct waiting *w;

    while ((w = STAILQ_FIRST(&p->queue)) != NULL) {
        STAILQ_REMOVE_HEAD(&p->queue, next);
        free(w);
    }
    LIST_REMOVE(p, next);
    free(p);
}

static void peer_drop(struct peer *p)
{
    channel_destroy(p->channel);
    peer_remove(p);
}

/* --- at the door ---------------------------------------------------------- */

static void receive_table(struct peer *p,
                          struct channel *c,
                          const uint8_t *body,
                          size_t len)
{
    struct table_tree *t = p->tree;

    if (t->s.on->receive(t->s.arg, body, len) < 0)
        peer_drop(p);
    else if (channel_send(c, MSG_TAKEN, NULL, 0) < 0)
        channel_hang_up(c);
}

static void on_parent_message(struct channel *c,
                              void *arg,
                              uint16_t type,
                              const uint8_t *body,
                              size_t len)
{
    struct peer *p = arg;
    struct table_tree *t = p->tree;

    if (channel_caller(c) != order_parent(t->s.branches, t->self))
        peer_drop(p);
    else if (type == MSG_FENCE)
        receive_table(p, c, body, len);
    else if (type != MSG_RELAY || t->s.on->order(t->s.arg, body, len) < 0)
        peer_drop(p);
}

/* Ours, too, once it has no more to pass. */
static void on_parent_closed(struct channel *c, void *arg, const char *why)
{
    (void)c;
    (void)why;
    peer_remove(arg);
}

static const struct channel_events parent_events = {
    .message = on_parent_message,
    .closed = on_parent_closed,
};

static void on_called(void *arg, struct listener *l, int fd)
{
    struct table_tree *t = arg;
    struct peer *p = peer_add(t);

    if (!p) {
        close(fd);
        return;
    }
    p->channel = channel_take(t->s.base, fd, l, &parent_events, p);
    if (!p->channel)
        peer_remove(p);
}

/* --- to the children ------------------------------------------------------ */

static int is_passing_to(const struct peer *p)
{
    return p->is_child
           && (!STAILQ_EMPTY(&p->queue) || channel_backlog(p->channel) > 0);
}

int table_tree_is_passing(const struct table_tree *t)
{
    const struct peer *p;

    LIST_FOREACH(p, &t->peers, next)
    if (is_passing_to(p))
        return 1;
    return 0;
}

static void tell_passed(const struct table_tree *t)
{
    if (t->s.on->passed && !table_tree_is_passing(t))
        t->s.on->passed(t->s.arg);
}

static void child_missed(struct peer *p)
{
    struct table_tree *t = p->tree;
    uint32_t rank = p->rank;
    int owes = p->owes;

    peer_remove(p);
    if (owes)
        t->s.on->missed(t->s.arg, rank);
    tell_passed(t);
}

static void on_child_opened(struct channel *c, void *arg)
{
    struct peer *p = arg;
    struct waiting *w;

    channel_backlog_mark(c, 0);
    while ((w = STAILQ_FIRST(&p->queue)) != NULL) {
        if (channel_send(c, w->type, w->body, w->len) < 0) {
            channel_hang_up(c);
            return;
        }
        STAILQ_REMOVE_HEAD(&p->queue, next);
        free(w);
    }
}

static void on_child_message(struct channel *c,
                             void *arg,
                             uint16_t type,
                             const uint8_t *body,
                             size_t len)
{
    struct peer *p = arg;

    (void)body;
    (void)len;
    if (type == MSG_TAKEN)
        p->owes = 0;
    else
        channel_hang_up(c);
}

static void on_child_drained(struct channel *c, void *arg)
{
    const struct peer *p = arg;

    (void)c;
    tell_passed(p->tree);
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
    .drained = on_child_drained,
    .closed = on_child_closed,
};

static struct peer *find_child(const struct table_tree *t, uint32_t rank)
{
    struct peer *p;

    LIST_FOREACH(p, &t->peers, next)
    if (p->is_child && p->rank == rank)
        break;
    return p;
}

/* The child, called if it was not before; NULL if it cannot be. */
static struct peer *call_child(struct table_tree *t,
                               uint32_t rank,
                               const struct endpoint *e)
{
    const struct parties parties = {PURPOSE_TABLE, t->self, rank};
    struct address to;
    struct peer *p = find_child(t, rank);

    if (p || e->door == 0 || address_parse(&to, e->address, e->door) < 0)
        return p;
    p = peer_add(t);
    if (!p)
        return NULL;
    p->is_child = 1;
    p->rank = rank;
    p->channel = channel_call(t->s.base, (const struct sockaddr *)&to.at,
                              to.len, t->s.secret, &parties, &child_events, p);
    if (p->channel)
        return p;
    peer_remove(p);
    return NULL;
}

static int send_child(struct peer *p,
                      uint16_t type,
                      const uint8_t *body,
                      size_t len)
{
    struct waiting *w;

    if (channel_is_open(p->channel) && STAILQ_EMPTY(&p->queue))
        return channel_send(p->channel, type, body, len);
    w = malloc(sizeof *w + len);
    if (!w)
        return -1;
    w->type = type;
    w->len = len;
    memcpy(w->body, body, len);
    STAILQ_INSERT_TAIL(&p->queue, w, next);
    return 0;
}

static void start_idle(struct table_tree *t)
{
    const struct timeval tv = {IDLE_S, 0};

    t->is_used = 1;
    if (!evtimer_pending(t->idle, NULL))
        (void)evtimer_add(t->idle, &tv); /* else they are kept */
}

static void on_idle(evutil_socket_t fd, short what, void *arg)
{
    struct table_tree *t = arg;
    struct peer *p, *next;
    int left = 0;

    (void)fd;
    (void)what;
    for (p = LIST_FIRST(&t->peers); p; p = next) {
        next = LIST_NEXT(p, next);
        if (!p->is_child)
            continue;
        if (t->is_used || p->owes || !channel_is_open(p->channel)
            || channel_backlog(p->channel) > 0)
            left++;
        else
            peer_drop(p);
    }
    t->is_used = 0;
    if (left > 0)
        start_idle(t);
    t->is_used = 0;
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
                                        .self = FRONT_END, /* until it is set */
                                        .ports = setup->ports,
                                        .at = setup->at,
                                        .called = on_called,
                                        .full = file_limit_reached,
                                        .arg = t};

    if (!t)
        return es_no_memory(err);
    t->s = *setup;
    t->self = FRONT_END;
    LIST_INIT(&t->peers);
    t->idle = evtimer_new(setup->base, on_idle, t);
    if (!t->idle || listener_open(&t->door, &door, err) < 0) {
        if (t->idle)
            event_free(t->idle);
        else
            (void)es_no_memory(err);
        free(t);
        return -1;
    }
    *out = t;
    return 0;
}

void table_tree_set_self(struct table_tree *t, uint32_t self)
{
    t->self = self;
    if (order_parent(t->s.branches, self) < FRONT_END) {
        listener_set_self(t->door, self);
        return;
    }
    listener_close(t->door); /* nobody calls there */
    t->door = NULL;
}

uint16_t table_tree_door(const struct table_tree *t)
{
    return t->door ? listener_port(t->door) : 0;
}

void table_tree_pass(struct table_tree *t,
                     const struct wireup *w,
                     uint32_t branches,
                     const uint8_t *body,
                     size_t len)
{
    uint64_t first = table_first_child(branches, w->rank);

    for (uint64_t i = first; i < first + branches && i < w->size; i++) {
        struct peer *p = call_child(t, (uint32_t)i, &w->agent[i]);

        if (p && send_child(p, MSG_FENCE, body, len) == 0)
            p->owes = 1;
        else
            t->s.on->missed(t->s.arg, (uint32_t)i);
    }
    start_idle(t);
}

/* One that does not get it is the front end's to find. */
static void order_child(struct table_tree *t,
                        const struct endpoint *e,
                        uint32_t rank,
                        const uint8_t *body,
                        size_t len)
{
    struct peer *p = call_child(t, rank, e);

    if (p && send_child(p, MSG_RELAY, body, len) < 0)
        peer_drop(p);
}

void table_tree_order(struct table_tree *t,
                      const struct wireup *w,
                      const struct msg_relay *m,
                      const uint8_t *body,
                      size_t len)
{
    uint64_t first = table_first_child(t->s.branches, w->rank);

    if (first >= w->size)
        return;
    for (uint64_t i = first; i < first + t->s.branches && i < w->size; i++) {
        struct writer part = {0};

        if (m->marks_len > 0)
            relay_cut(&part, m, t->s.branches, (uint32_t)i);
        if (m->marks_len == 0)
            order_child(t, &w->agent[i], (uint32_t)i, body, len);
        else if (!part.bad)
            order_child(t, &w->agent[i], (uint32_t)i, part.buf, part.len);
        writer_clear(&part);
    }
    start_idle(t);
}

void table_tree_forget(struct table_tree *t)
{
    while (!LIST_EMPTY(&t->peers))
        peer_drop(LIST_FIRST(&t->peers));
}

void table_tree_close(struct table_tree *t)
{
    int saved = errno;

    if (!t)
        return;
    table_tree_forget(t);
    listener_close(t->door);
    event_free(t->idle);
    free(t);
    errno = saved;
}
