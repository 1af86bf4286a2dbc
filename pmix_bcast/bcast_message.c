/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/bcast_message.h"
#include "pmix_bcast/bcast_origin.h"
#include "pmix_bcast/pull.h"
#include "pmix_bcast/tree_index.h"

#include <string.h>

static void write_plan(struct writer *w, const struct plan *p)
{
    write_u64(w, p->bytes);
    write_u32(w, p->nodes);
    write_u32(w, p->branches);
    write_u32(w, p->chunk);
    write_u32(w, p->taper);
    write_u32(w, p->chunks);
    write_u32(w, p->shape);
}

static void read_plan(struct reader *r, struct plan *p)
{
    p->bytes = read_u64(r);
    p->nodes = read_u32(r);
    p->branches = read_u32(r);
    p->chunk = read_u32(r);
    p->taper = read_u32(r);
    p->chunks = read_u32(r);
    p->shape = read_u32(r);
}

void bcast_write_order(struct writer *w, const struct bcast_order *o)
{
    char networks[NETWORKS_TEXT_MAX];

    write_u32(w, o->id);
    write_u32(w, o->flags);
    write_u32(w, o->mode);
    write_u64(w, (uint64_t)o->mtime_ns);
    write_u32(w, o->way);
    write_u32(w, o->port);
    write_plan(w, &o->plan);
    write_text(w, o->destination);
    write_blob(w, o->content, o->content ? (size_t)o->plan.bytes : 0);
    networks_format(&o->networks, networks, sizeof networks);
    write_text(w, networks);
    write_text(w, o->cache);
    write_u64(w, o->cache_bytes);
    write_blob(w, o->want, o->want_len);
    write_blob(w, o->origin, o->origin_len);
    write_u32(w, o->begun);
}

static const uint8_t *read_want(struct reader *r, size_t *len)
{
    const uint8_t *want = read_blob(r, len);

    if (*len > tree_want_bytes(TREE_SEGMENTS_MAX))
        r->bad = 1;
    return *len > 0 ? want : NULL;
}

static const uint8_t *read_origin(struct reader *r, size_t *len)
{
    const uint8_t *origin = read_blob(r, len);

    if (!bcast_origin_is_sound(origin, *len))
        r->bad = 1;
    return *len > 0 ? origin : NULL;
}

/* What is begun is a file, or a tree by its index; a tree's content comes then. */
static int is_in_turn(const struct bcast_order *o)
{
    switch (o->flags & (ORDER_BEGIN | ORDER_INDEX | ORDER_TREE)) {
    case 0:
        return 1;
    case ORDER_BEGIN:
    case ORDER_INDEX:
        return !o->begun;
    case ORDER_TREE:
        return o->begun != 0;
    default:
        return 0;
    }
}

int bcast_read_order(struct bcast_order *o, const uint8_t *body, size_t len)
{
    struct reader r = {body, len, 0};
    char networks[NETWORKS_TEXT_MAX];
    uint32_t port;
    size_t n;

    memset(o, 0, sizeof *o);
    o->id = read_u32(&r);
    o->flags = read_u32(&r);
    o->mode = read_u32(&r);
    o->mtime_ns = (int64_t)read_u64(&r);
    o->way = read_u32(&r);
    port = read_u32(&r);
    o->port = (uint16_t)port;
    read_plan(&r, &o->plan);
    read_text(&r, o->destination, sizeof o->destination);
    o->content = read_blob(&r, &n);
    if (n == 0 && o->plan.bytes > 0)
        o->content = NULL;
    read_text(&r, networks, sizeof networks);
    read_text(&r, o->cache, sizeof o->cache);
    o->cache_bytes = read_u64(&r);
    o->want = read_want(&r, &o->want_len);
    o->origin = read_origin(&r, &o->origin_len);
    o->begun = read_u32(&r);
    if (read_end(&r) == 0 && networks_parse(&o->networks, networks) == 0
        && port <= UINT16_MAX && o->flags <= ORDER_ALL && is_in_turn(o)
        && o->mode <= 07777 && o->way <= PULL_BY_NODE
        && (o->destination[0] == '/' || o->destination[0] == '$')
        && (!o->cache[0] || o->cache[0] == '/') && plan_check(&o->plan) == 0
        && (!o->content || n == o->plan.bytes))
        return 0;
    memset(o, 0, sizeof *o);
    return -1;
}

void bcast_write_sum(struct writer *w, uint32_t id, uint64_t digest)
{
    write_u32(w, id);
    write_u64(w, digest);
}

int bcast_read_sum(uint32_t *id,
                   uint64_t *digest,
                   const uint8_t *body,
                   size_t len)
{
    struct reader r = {body, len, 0};

    *id = read_u32(&r);
    *digest = read_u64(&r);
    if (read_end(&r) == 0)
        return 0;
    *id = 0;
    *digest = 0;
    return -1;
}

void bcast_write_done(struct writer *w, const struct bcast_done *d)
{
    write_u32(w, d->id);
    write_u32(w, d->error);
    write_text(w, d->text);
    write_u64(w, d->pulls);
    write_u64(w, d->refused);
    write_u64(w, d->duplicates);
    write_u64(w, d->fabric);
    write_u32(w, d->threads);
    write_text(w, d->note);
    write_blob(w, d->want, d->want_len);
}

int bcast_read_done(struct bcast_done *d, const uint8_t *body, size_t len)
{
    struct reader r = {body, len, 0};

    memset(d, 0, sizeof *d);
    d->id = read_u32(&r);
    d->error = read_u32(&r);
    read_text(&r, d->text, sizeof d->text);
    d->pulls = read_u64(&r);
    d->refused = read_u64(&r);
    d->duplicates = read_u64(&r);
    d->fabric = read_u64(&r);
    d->threads = read_u32(&r);
    read_text(&r, d->note, sizeof d->note);
    d->want = read_want(&r, &d->want_len);
    if (read_end(&r) == 0)
        return 0;
    memset(d, 0, sizeof *d);
    return -1;
}

void bcast_write_number(struct writer *w, uint32_t id, uint32_t number)
{
    write_u32(w, id);
    write_u32(w, number);
}

int bcast_read_number(uint32_t *id,
                      uint32_t *number,
                      const uint8_t *body,
                      size_t len)
{
    struct reader r = {body, len, 0};

    *id = read_u32(&r);
    *number = read_u32(&r);
    if (read_end(&r) == 0)
        return 0;
    *id = *number = 0;
    return -1;
}
