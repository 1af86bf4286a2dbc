/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/bringing.h"
#include "launcher/base/notice.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>

/* --- one after the other -------------------------------------------------- */

static void on_ended(void *arg)
{
    struct bringing *b = arg;

    event_active(b->next, EV_TIMEOUT, 0); /* not within the broadcast's call */
}

/* With digests, of which nodes tell what they lack; a file is then a tree of one
 * file. */
static void wish_compared(struct bringing *b)
{
    b->tree.parts = TREE_DIGESTS;
    b->tree.single = !broadcast_is_folder(b->source);
    b->wish.flags &= ~(uint32_t)ORDER_SINGLE;
    b->wish.flags |= b->tree.single ? ORDER_SINGLE : 0u;
}

static int start_one(struct bringing *b)
{
    struct bring_file *f = &b->list->file[b->at];
    int compared = (b->wish.flags & (ORDER_UPDATE | ORDER_CACHE)) != 0;
    int is_tree = compared || broadcast_is_folder(f->source);

    b->source = f->source;
    b->wish.source = f->source;
    b->wish.destination = f->destination;
    b->tree = (struct tree_wish){.source = &b->source, .n = 1};
    if (compared)
        wish_compared(b);
    return broadcast_start_program(&b->broadcast, b->base, b->session, &b->wish,
                                   is_tree ? &b->tree : NULL, &f->libs,
                                   on_ended, b, b->err);
}

/* A node that was lost meanwhile does nothing; one that is there and has not
 * got the file would fail at it. */
static int check_one(const struct bringing *b)
{
    const struct bring_file *f = &b->list->file[b->at];
    struct bcast_result r;
    uint32_t without = 0;

    if (broadcast_error(&b->broadcast)->kind != ES_OK) {
        *b->err = *broadcast_error(&b->broadcast);
        return -1;
    }
    r = bcast_home_result(b->broadcast.home);
    for (uint32_t v = 0; v < r.plan.nodes; v++) {
        const struct node *node = session_node(b->session, v);

        if (!r.node[v].why[0] || !node->present)
            continue;
        notice("%s: %s", node->name, r.node[v].why);
        without++;
    }
    if (without == 0)
        return 0;
    return es_fail(b->err, ES_WORK, "see the lines above",
                   "--%s: %.200s:%.200s: %u of %u nodes have not got it",
                   f->option, f->source, f->destination, without, r.plan.nodes);
}

static void on_next(evutil_socket_t fd, short what, void *arg)
{
    struct bringing *b = arg;
    int failed = check_one(b) < 0;

    (void)fd;
    (void)what;
    broadcast_stop(&b->broadcast);
    b->at++;
    if (!failed && b->at < b->list->n)
        failed = start_one(b) < 0;
    if (failed || b->at == b->list->n)
        b->ended(b->arg, failed);
}

static void take_wish(struct bringing *b,
                      const struct run_options *o,
                      const struct config_bcast *config)
{
    b->wish =
        broadcast_wish(config, ORDER_FORCE | (o->update ? ORDER_UPDATE : 0u)
                                   | (o->cache ? ORDER_CACHE : 0u));
    if (o->compress > 0)
        b->wish.pack = (enum pack)(o->compress - 1);
    if (!o->cache)
        return;
    b->wish.cache = b->list->cache;
    b->wish.cache_bytes = config->cache_bytes;
}

int bringing_start(struct bringing *b,
                   struct event_base *base,
                   struct session *session,
                   const struct run_options *o,
                   const struct bring_list *list,
                   const struct config_bcast *config,
                   void (*ended)(void *arg, int failed),
                   void *arg,
                   struct es_error *err)
{
    memset(b, 0, sizeof *b);
    b->base = base;
    b->session = session;
    b->list = list;
    take_wish(b, o, config);
    b->ended = ended;
    b->arg = arg;
    b->err = err;
    b->next = event_new(base, -1, 0, on_next, b);
    return b->next ? start_one(b) : es_no_memory(err);
}

void bringing_stop(struct bringing *b)
{
    broadcast_stop(&b->broadcast);
    if (b->next)
        event_free(b->next);
    memset(b, 0, sizeof *b);
}
