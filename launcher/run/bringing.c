/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/bringing.h"
#include "launcher/base/notice.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A node that was lost meanwhile does nothing; one that is there and has not
 * got the file would fail at it. */
static int check(const struct bringing *b)
{
    const struct bring_file *f =
        &b->list->file[broadcast_input_at(&b->broadcast)];
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
    return es_fail(b->err, ES_WORK,
                   b->broadcast.begins
                       ? "see the lines above; none of it was sent"
                       : "see the lines above",
                   "--%s: %.200s:%.200s: %u of %u nodes have not got it",
                   f->option, f->source, f->destination, without, r.plan.nodes);
}

static void on_over(evutil_socket_t fd, short what, void *arg)
{
    struct bringing *b = arg;
    int failed = check(b) < 0;

    (void)fd;
    (void)what;
    broadcast_stop(&b->broadcast);
    b->ended(b->arg, failed);
}

static void on_ended(void *arg)
{
    struct bringing *b = arg;

    event_active(b->over, EV_TIMEOUT, 0); /* not within the broadcast's call */
}

/* --- start ---------------------------------------------------------------- */

static struct bcast_wish wish_of(const struct run_options *o,
                                 const struct bring_list *list,
                                 const struct config_bcast *config)
{
    struct bcast_wish w =
        broadcast_wish(config, ORDER_FORCE | (o->update ? ORDER_UPDATE : 0u)
                                   | (o->cache ? ORDER_CACHE : 0u));

    if (o->compress > 0)
        w.pack = (enum pack)(o->compress - 1);
    if (o->cache) {
        w.cache = list->cache;
        w.cache_bytes = config->cache_bytes;
    }
    return w;
}

/* With digests, of which nodes tell what they lack, a file is a tree of one file. */
static void set_input(struct broadcast_input *in,
                      struct tree_wish *tree,
                      struct bring_file *f,
                      const struct bcast_wish *wish)
{
    int compared = (wish->flags & (ORDER_UPDATE | ORDER_CACHE)) != 0;
    int is_folder = broadcast_is_folder(f->source);

    *in = (struct broadcast_input){.wish = *wish, .libs = &f->libs};
    in->wish.source = f->source;
    in->wish.destination = f->destination;
    if (!compared && !is_folder)
        return;
    *tree = (struct tree_wish){.source = &f->path, .n = 1};
    if (compared)
        tree->parts = TREE_DIGESTS;
    tree->single = compared && !is_folder;
    if (tree->single)
        in->wish.flags |= ORDER_SINGLE;
    in->sources = tree;
}

static int start(struct bringing *b,
                 struct event_base *base,
                 const struct bcast_wish *wish)
{
    size_t n = b->list->n;
    struct broadcast_input *input = calloc(n, sizeof *input);
    struct tree_wish *tree = calloc(n, sizeof *tree);
    int rc = -1;

    for (size_t i = 0; input && tree && i < n; i++)
        set_input(&input[i], &tree[i], &b->list->file[i], wish);
    if (input && tree)
        rc = broadcast_start_inputs(&b->broadcast, base, b->session, input, n,
                                    1, on_ended, b, b->err);
    else
        es_no_memory(b->err);
    free(input);
    free(tree);
    return rc;
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
    struct bcast_wish wish = wish_of(o, list, config);

    memset(b, 0, sizeof *b);
    b->session = session;
    b->list = list;
    b->ended = ended;
    b->arg = arg;
    b->err = err;
    b->over = event_new(base, -1, 0, on_over, b);
    return b->over ? start(b, base, &wish) : es_no_memory(err);
}

void bringing_stop(struct bringing *b)
{
    broadcast_stop(&b->broadcast);
    if (b->over)
        event_free(b->over);
    memset(b, 0, sizeof *b);
}
