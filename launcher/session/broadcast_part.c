/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/broadcast_part.h"
#include "launcher/base/signals.h"
#include "pmix_bcast/file_extents.h"
#include "pmix_bcast/offload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct part_tree {
    struct tree_source source;
    const struct tree_wish *wish;
    int digests;             /* it is compared to what nodes have */
    struct offload *reading; /* the index is not whole yet */
    struct es_error *err;
    void (*ended)(void *arg, int result);
    void *arg;
};

/* --- which there are ------------------------------------------------------- */

/* As a folder, in which they are alone. */
static void set_libs(struct broadcast_part *p, const struct libs *libs)
{
    p->sources = (struct tree_wish){.source = libs->path,
                                    .n = libs->n,
                                    .single = libs->n == 1,
                                    .parts = p->sources.parts & TREE_DIGESTS};
    p->wish.flags &= ~(uint32_t)ORDER_SINGLE;
    p->wish.destination = libs->destination;
    p->wish.is_whole = 1; /* the loader may have found them there */
}

size_t broadcast_parts_of(struct broadcast_part part[BROADCAST_PARTS],
                          const struct broadcast_input *in,
                          size_t number)
{
    struct broadcast_part all = {.wish = in->wish, .input = number};
    size_t n = 0;

    if (in->sources)
        all.sources = *in->sources;
    if (in->libs && in->libs->n > 0) {
        part[n] = all;
        set_libs(&part[n++], in->libs);
    }
    part[n++] = all;
    return n;
}

/* The next of the names in a path, and its length; 0: there is none. */
static size_t next_name(const char **path)
{
    size_t len;

    do {
        *path += strspn(*path, "/");
        len = strcspn(*path, "/");
        if (len != 1 || **path != '.')
            return len;
        *path += len;
    } while (1);
}

/* Are all names of the shorter one the first of the other? */
static int begin_alike(const char *a, const char *b)
{
    size_t len;

    while ((len = next_name(&a)) > 0) {
        size_t its = next_name(&b);

        if (its == 0)
            return 1;
        if (len != its || memcmp(a, b, len) != 0)
            return 0;
        a += len;
        b += len;
    }
    return 1;
}

/* Only the node knows where it is then. */
static int leads_up(const char *path)
{
    size_t len;

    for (; (len = next_name(&path)) > 0; path += len)
        if (len == 2 && memcmp(path, "..", 2) == 0)
            return 1;
    return 0;
}

/* What is below the folder that each node has, NULL: it is not. */
static const char *below_tmpdir(const char *path)
{
    return path[0] == '$' ? strchr(path, '/') : NULL;
}

/* Wherever that folder may be: it has one name at least. */
static int may_be_below(const char *path, const char *rest)
{
    size_t len;

    while ((len = next_name(&path)) > 0) {
        path += len;
        if (next_name(&path) > 0 && begin_alike(path, rest))
            return 1;
    }
    return 0;
}

int broadcast_part_overlaps(const struct broadcast_part *p,
                            const struct broadcast_part *other)
{
    const char *a = p->wish.destination, *b = other->wish.destination;
    const char *rest = below_tmpdir(a), *its = below_tmpdir(b);

    if (leads_up(a) || leads_up(b))
        return 1;
    if (rest && its)
        return begin_alike(rest, its);
    if (rest || its)
        return rest ? may_be_below(b, rest) : may_be_below(a, its);
    return begin_alike(a, b);
}

int broadcast_part_is_tree(struct broadcast_part *p)
{
    if (p->sources.n == 0 && file_extents_has_hole(p->wish.source)) {
        p->file = (char *)p->wish.source; /* is only read */
        p->sources =
            (struct tree_wish){.source = &p->file, .n = 1, .single = 1};
        p->wish.flags |= ORDER_SINGLE;
    }
    return p->sources.n > 0;
}

/* --- its source ------------------------------------------------------------ */

/* In a thread of its own. */
static int read_tree(void *arg)
{
    struct part_tree *t = arg;

    if (tree_source_open(&t->source, t->wish, t->err) < 0)
        return -1;
    return t->digests ? tree_source_digest(&t->source, t->err) : 0;
}

static void on_read(void *arg, int result)
{
    struct part_tree *t = arg;

    offload_destroy(t->reading);
    t->reading = NULL;
    t->ended(t->arg, result);
}

/* To look at all files may take long, and so may their digests. */
int broadcast_part_read(struct broadcast_part *p,
                        struct event_base *base,
                        void (*ended)(void *arg, int result),
                        void *arg,
                        struct es_error *err)
{
    struct part_tree *t = calloc(1, sizeof *t);

    if (!t)
        return es_no_memory(err);
    t->wish = &p->sources;
    t->digests = (p->wish.flags & (ORDER_UPDATE | ORDER_CACHE)) != 0;
    t->err = err;
    t->ended = ended;
    t->arg = arg;
    tree_source_init(&t->source, signals_come());
    p->tree = t;
    t->reading = offload_start(base, read_tree, on_read, t);
    return t->reading ? 0 : es_no_memory(err);
}

const struct tree_source *broadcast_part_source(const struct broadcast_part *p)
{
    return p->tree ? &p->tree->source : NULL;
}

static int look_at(const struct broadcast_part *p,
                   struct stat *st,
                   struct es_error *err)
{
    return stat(p->wish.source, st) == 0
               ? 0
               : es_fail(err, ES_WORK, "give a file that can be read", "%s: %s",
                         p->wish.source, strerror(errno));
}

/* Has it changed since it was begun? */
static int check_then(const struct broadcast_part *p, struct es_error *err)
{
    struct stat now;

    if (look_at(p, &now, err) < 0)
        return -1;
    if (now.st_size == p->then.st_size
        && now.st_mtim.tv_sec == p->then.st_mtim.tv_sec
        && now.st_mtim.tv_nsec == p->then.st_mtim.tv_nsec)
        return 0;
    return es_fail(err, ES_WORK, "broadcast it when nobody writes to it",
                   "%s: it changes while it is read", p->wish.source);
}

static int wish_of_tree(struct broadcast_part *p,
                        int begins,
                        struct bcast_wish *wish,
                        struct es_error *err)
{
    wish->tree = &p->tree->source;
    wish->flags |= begins ? ORDER_INDEX : ORDER_TREE;
    return begins ? 0 : tree_source_select(wish->tree, err);
}

int broadcast_part_wish(struct broadcast_part *p,
                        int begins,
                        struct bcast_wish *wish,
                        struct es_error *err)
{
    *wish = p->wish;
    wish->begun = p->begun;
    if (p->tree)
        return wish_of_tree(p, begins, wish, err);
    if (!begins)
        return p->begun ? check_then(p, err) : 0;
    wish->flags |= ORDER_BEGIN;
    return look_at(p, &p->then, err);
}

void broadcast_part_clear(struct broadcast_part *p)
{
    struct part_tree *t = p->tree;

    if (!t)
        return;
    tree_source_cancel(&t->source);
    offload_destroy(t->reading);
    tree_source_close(&t->source);
    free(t);
    p->tree = NULL;
}
