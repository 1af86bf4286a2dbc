/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/bringing.h"
#include "launcher/base/notice.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* --- SRC:DST -------------------------------------------------------------- */

static int split(char source[DESTINATION_MAX],
                 char destination[DESTINATION_MAX],
                 const char *text,
                 struct es_error *err)
{
    const char *colon = strchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : 0;

    if (len == 0)
        return es_fail(err, ES_USAGE, "give SRC:DST, as data:/tmp/data",
                       "--bcast: \"%.80s\" does not name two files", text);
    if (len >= DESTINATION_MAX)
        return es_fail(err, ES_USAGE, "give a shorter one",
                       "--bcast: SRC is longer than %u bytes",
                       DESTINATION_MAX - 1);
    memcpy(source, text, len);
    source[len] = '\0';
    return broadcast_destination(destination, colon + 1, err);
}

int bringing_check(const struct run_options *o,
                   const struct config_bcast *config,
                   struct es_error *err)
{
    char source[DESTINATION_MAX], destination[DESTINATION_MAX];

    if (o->cache && broadcast_cache(destination, o->cache, config, err) < 0)
        return -1;

    for (size_t i = 0; i < o->n_bcast; i++) {
        if (split(source, destination, o->bcast[i], err) < 0
            || broadcast_source(source, err) < 0)
            return -1;
        if (o->local.n > 1 && !strstr(destination, "{node}"))
            return es_fail(err, ES_USAGE, "give DST with {node} in it",
                           "--bcast: with --local all nodes would write the "
                           "same file");
    }
    return 0;
}

/* --- one after the other -------------------------------------------------- */

static void on_ended(void *arg)
{
    struct bringing *b = arg;

    event_active(b->next, EV_TIMEOUT, 0); /* not within the broadcast's call */
}

/* With digests, of which nodes tell what they lack; a file is then a tree of one
 * file. */
static int start_compared(struct bringing *b)
{
    char *source = b->source;
    struct stat st;
    const struct tree_wish tree = {.source = &source,
                                   .n = 1,
                                   .single = stat(source, &st) != 0
                                             || !S_ISDIR(st.st_mode),
                                   .parts = TREE_DIGESTS};

    b->wish.flags &= ~(uint32_t)ORDER_SINGLE;
    b->wish.flags |= tree.single ? ORDER_SINGLE : 0u;
    return broadcast_start_tree(&b->broadcast, b->base, b->session, &b->wish,
                                &tree, on_ended, b, b->err);
}

static int start_one(struct bringing *b)
{
    if (split(b->source, b->destination, b->o->bcast[b->at], b->err) < 0)
        return -1;
    b->wish.source = b->source;
    b->wish.destination = b->destination;
    if (b->wish.flags & (ORDER_UPDATE | ORDER_CACHE))
        return start_compared(b);
    return broadcast_start(&b->broadcast, b->base, b->session, &b->wish, NULL,
                           on_ended, b, b->err);
}

/* A node that was lost meanwhile does nothing; one that is there and has not
 * got the file would fail at it. */
static int check_one(const struct bringing *b)
{
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
                   "--bcast: %.80s: %u of %u nodes have not got it",
                   b->o->bcast[b->at], without, r.plan.nodes);
}

static void on_next(evutil_socket_t fd, short what, void *arg)
{
    struct bringing *b = arg;
    int failed = check_one(b) < 0;

    (void)fd;
    (void)what;
    broadcast_stop(&b->broadcast);
    b->at++;
    if (!failed && b->at < b->o->n_bcast)
        failed = start_one(b) < 0;
    if (failed || b->at == b->o->n_bcast)
        b->ended(b->arg, failed);
}

static void take_wish(struct bringing *b, const struct config_bcast *config)
{
    const struct run_options *o = b->o;

    b->wish =
        broadcast_wish(config, ORDER_FORCE | (o->update ? ORDER_UPDATE : 0u)
                                   | (o->cache ? ORDER_CACHE : 0u));
    if (o->compress > 0)
        b->wish.pack = (enum pack)(o->compress - 1);
    if (!o->cache)
        return;
    (void)broadcast_cache(b->cache, o->cache, config, NULL); /* was checked */
    b->wish.cache = b->cache;
    b->wish.cache_bytes = config->cache_bytes;
}

int bringing_start(struct bringing *b,
                   struct event_base *base,
                   struct session *session,
                   const struct run_options *o,
                   const struct config_bcast *config,
                   void (*ended)(void *arg, int failed),
                   void *arg,
                   struct es_error *err)
{
    memset(b, 0, sizeof *b);
    b->base = base;
    b->session = session;
    b->o = o;
    take_wish(b, config);
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
