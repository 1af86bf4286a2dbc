/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/bcast_copy.h"
#include "pmix_bcast/bcast_origin.h"
#include "pmix_bcast/file_io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERIFY_TURN 64u /* chunks read back at once, before others' turn */

static int is_index(const struct bcast_copy *c)
{
    return (c->order->flags & ORDER_INDEX) != 0;
}

static int is_tree(const struct bcast_copy *c)
{
    return (c->order->flags & ORDER_TREE) != 0;
}

static int begins(const struct bcast_copy *c)
{
    return (c->order->flags & (ORDER_INDEX | ORDER_BEGIN)) != 0;
}

int bcast_copy_init(struct bcast_copy *c,
                    const struct bcast_order *order,
                    struct bcast_begun_list *begun,
                    const struct secret *secret)
{
    struct bcast_begun was = {.file = DESTINATION_CLOSED};
    const struct plan *p = &order->plan;

    if (order->begun)
        (void)bcast_begun_take(begun, order->begun, &was);
    *c = (struct bcast_copy){
        .order = order,
        .file = was.file,
        .tree = was.tree,
        .room = {.before = begun->need, .n_before = begun->n}};
    c->offset = calloc(p->chunks + 1u, sizeof *c->offset);
    c->tag = calloc(p->chunks + 1u, sizeof *c->tag);
    c->lent = calloc(p->chunks + 1u, 1);
    c->seal = chunk_tag_seal(secret, order->id);
    if (!c->offset || !c->tag || !c->lent || !c->seal)
        return ENOMEM;
    plan_offsets(p, c->offset);
    if (is_tree(c))
        chunk_recent_init(&c->recent, p->chunk);
    return 0;
}

void bcast_copy_clear(struct bcast_copy *c)
{
    bcast_copy_abandon(c);
    free(c->offset);
    free(c->tag);
    free(c->lent);
    seal_destroy(c->seal);
    chunk_recent_clear(&c->recent);
}

/* How much room is lacking. */
static void say_lack(struct bcast_copy *c)
{
    char lacks[64];

    room_tell(&c->room, lacks, sizeof lacks);
    if (lacks[0])
        snprintf(c->why, sizeof c->why, "%.*s: %s: %s",
                 (int)sizeof c->why - 150, c->order->destination,
                 strerror(ENOSPC), lacks);
}

static int open_file(struct bcast_copy *c)
{
    const struct bcast_order *o = c->order;
    int why = destination_open(&c->file, o->destination, o->plan.bytes,
                               (o->flags & ORDER_FORCE) != 0, &c->room);

    if (why == ENOSPC)
        say_lack(c);
    if (!why && o->flags & ORDER_SYNC)
        destination_keep(&c->file);
    return why;
}

/* As many bytes as there was room made for. */
static int open_begun_file(const struct bcast_copy *c)
{
    struct stat st;

    if (c->file.fd < 0)
        return EPROTO;
    if (fstat(c->file.fd, &st) < 0)
        return errno;
    return (uint64_t)st.st_size == c->order->plan.bytes ? 0 : EPROTO;
}

/* Of the segments that at least one node has not got. */
static int open_content(const struct bcast_copy *c)
{
    const struct bcast_order *o = c->order;
    int why = c->tree ? 0 : EPROTO;

    if (why == 0 && o->want)
        why = tree_copy_select(c->tree, o->want, o->want_len);
    return why || tree_copy_bytes(c->tree) == o->plan.bytes ? why : EPROTO;
}

/* Nothing of the source may be lost. */
static int check_origin(struct bcast_copy *c)
{
    const struct bcast_order *o = c->order;
    int is_folder = is_index(c) && !(o->flags & ORDER_SINGLE);

    return bcast_origin_check(o->origin, o->origin_len, o->destination,
                              is_folder, c->why, sizeof c->why);
}

int bcast_copy_open(struct bcast_copy *c)
{
    uint64_t bytes = c->order->plan.bytes;
    int why;

    if (is_tree(c))
        return open_content(c);
    if (c->order->begun)
        return open_begun_file(c);
    why = check_origin(c);
    if (why)
        return why;
    if (!is_index(c))
        return open_file(c);
    if (bytes > TREE_INDEX_MAX)
        return EPROTO;
    c->index = malloc(bytes > 0 ? (size_t)bytes : 1);
    return c->index ? 0 : ENOMEM;
}

size_t bcast_copy_size(const struct bcast_copy *c, uint32_t chunk)
{
    return (size_t)(c->offset[chunk + 1] - c->offset[chunk]);
}

uint8_t *bcast_copy_place(struct bcast_copy *c, uint32_t chunk)
{
    uint8_t *place = NULL;

    if (!c->lent[chunk])
        place = destination_find(&c->file, bcast_copy_size(c, chunk),
                                 c->offset[chunk]);
    if (place)
        c->lent[chunk] = 1;
    return place;
}

uint8_t *bcast_copy_ready(const struct bcast_copy *c,
                          uint32_t chunk,
                          uint8_t *place)
{
    size_t size = bcast_copy_size(c, chunk);
    uint64_t at = c->offset[chunk];

    return place == destination_find(&c->file, size, at)
               ? destination_place(&c->file, size, at)
               : place;
}

int bcast_copy_is_lent(const struct bcast_copy *c, uint32_t chunk)
{
    return c->lent[chunk];
}

static int write_at(struct bcast_copy *c,
                    const uint8_t *bytes,
                    size_t len,
                    uint64_t at)
{
    if (is_tree(c))
        return c->tree ? tree_copy_write(c->tree, bytes, len, at) : EBADF;
    if (!is_index(c))
        return destination_write(&c->file, bytes, len, at);
    if (!c->index)
        return EBADF;
    memcpy(c->index + at, bytes, len);
    return 0;
}

int bcast_copy_check(const struct bcast_copy *c,
                     struct seal *seal,
                     uint32_t chunk,
                     const uint8_t *bytes,
                     const uint8_t tag[TAG_BYTES])
{
    return seal_check(seal, chunk, bytes, bcast_copy_size(c, chunk), tag) < 0
               ? errno
               : 0;
}

int bcast_copy_put_checked(struct bcast_copy *c,
                           uint32_t chunk,
                           const uint8_t *bytes,
                           const uint8_t tag[TAG_BYTES])
{
    size_t size = bcast_copy_size(c, chunk);
    int why = write_at(c, bytes, size, c->offset[chunk]);
    if (why)
        return why;
    memcpy(c->tag[chunk].bytes, tag, TAG_BYTES);
    chunk_recent_put(&c->recent, chunk, bytes, size);
    return 0;
}

int bcast_copy_put(struct bcast_copy *c,
                   uint32_t chunk,
                   const uint8_t *bytes,
                   const uint8_t tag[TAG_BYTES])
{
    int why = bcast_copy_check(c, c->seal, chunk, bytes, tag);

    return why ? why : bcast_copy_put_checked(c, chunk, bytes, tag);
}

int bcast_copy_put_all(struct bcast_copy *c, const uint8_t *bytes)
{
    size_t len = (size_t)c->order->plan.bytes;

    return len > 0 ? write_at(c, bytes, len, 0) : 0;
}

int bcast_copy_fd(const struct bcast_copy *c)
{
    return c->file.fd;
}

static int read_back(struct bcast_copy *c, uint32_t chunk, uint8_t *bytes)
{
    size_t size = bcast_copy_size(c, chunk);
    int why = EBADF;

    if (is_index(c)) {
        memcpy(bytes, c->index + c->offset[chunk], size);
        return 0;
    }
    if (!is_tree(c))
        why = file_read_at(c->file.fd, bytes, size, c->offset[chunk]);
    else if (c->tree)
        why = tree_copy_read(c->tree, bytes, size, c->offset[chunk]);
    return why == ENODATA ? EBADMSG : why;
}

int bcast_copy_read(struct bcast_copy *c, uint32_t chunk, uint8_t *bytes)
{
    size_t size = 0;
    const uint8_t *recent = chunk_recent_get(&c->recent, chunk, &size);

    if (!recent)
        return read_back(c, chunk, bytes);
    memcpy(bytes, recent, size);
    return 0;
}

int bcast_copy_was_here(const struct bcast_copy *c, uint32_t chunk)
{
    return is_tree(c) && c->tree
           && tree_copy_was_here(c->tree, c->offset[chunk],
                                 bcast_copy_size(c, chunk));
}

int bcast_copy_take(struct bcast_copy *c, uint32_t chunk)
{
    size_t size = bcast_copy_size(c, chunk);
    uint8_t *bytes = malloc(size);
    int why = bytes ? read_back(c, chunk, bytes) : ENOMEM;

    if (why == 0
        && seal_tag(c->seal, chunk, bytes, size, c->tag[chunk].bytes) < 0)
        why = ENOMEM; /* what else makes libcrypto fail */
    if (why == 0)
        chunk_recent_put(&c->recent, chunk, bytes, size);
    free(bytes);
    return why;
}

uint64_t bcast_copy_sum(const struct bcast_copy *c)
{
    return chunk_tag_sum(c->tag, c->order->plan.chunks);
}

static int verify_chunk(struct bcast_copy *c, uint32_t chunk, uint8_t *bytes)
{
    int why = read_back(c, chunk, bytes);

    if (why)
        return why;
    return seal_check(c->seal, chunk, bytes, bcast_copy_size(c, chunk),
                      c->tag[chunk].bytes)
                   < 0
               ? errno
               : 0;
}

int bcast_copy_verify(struct bcast_copy *c)
{
    uint8_t *bytes = malloc(c->order->plan.chunk);
    uint32_t end = c->verified + VERIFY_TURN;
    int why = bytes ? 0 : ENOMEM;

    if (end > c->order->plan.chunks)
        end = c->order->plan.chunks;
    while (!why && c->verified < end) {
        why = verify_chunk(c, c->verified, bytes);
        c->verified += why == 0;
    }
    free(bytes);
    return why;
}

/* The index stays where it is: it is the tree's now. */
static int make_tree(struct bcast_copy *c)
{
    const struct bcast_order *o = c->order;
    struct tree_copy_setup setup = {
        .destination = o->destination,
        .force = (o->flags & ORDER_FORCE) != 0,
        .keep = (o->flags & ORDER_SYNC) != 0,
        .update = (o->flags & ORDER_UPDATE) != 0,
        .delete = (o->flags & ORDER_DELETE) != 0,
        .single = (o->flags & ORDER_SINGLE) != 0,
        .now = (o->flags & ORDER_SINGLE) && !(o->flags & ORDER_TIMES),
        .cache = o->flags & ORDER_CACHE ? o->cache : NULL,
        .cache_bytes = o->cache_bytes,
        .room = &c->room};
    int why =
        tree_copy_create(&c->tree, &setup, c->index, (size_t)o->plan.bytes);

    if (why)
        c->index = NULL;
    return why;
}

int bcast_copy_whole(struct bcast_copy *c)
{
    return is_index(c) ? make_tree(c) : 0;
}

int bcast_copy_takes_long(const struct bcast_copy *c)
{
    return c->tree != NULL || (c->file.keep && !begins(c));
}

unsigned bcast_copy_steps(const struct bcast_copy *c)
{
    return c->tree ? tree_copy_steps(c->tree) : 0;
}

void bcast_copy_cancel(struct bcast_copy *c)
{
    if (c->tree)
        tree_copy_cancel(c->tree);
}

const char *bcast_copy_why(const struct bcast_copy *c)
{
    return c->tree && !c->why[0] ? tree_copy_why(c->tree) : c->why;
}

void bcast_copy_report(const struct bcast_copy *c, struct bcast_done *d)
{
    const struct tree_want *lacks = c->tree ? tree_copy_lacks(c->tree) : NULL;

    if (!c->tree && !begins(c))
        snprintf(d->note, sizeof d->note, "%s", target_note(&c->file.target));
    if (!c->tree)
        return;
    if (is_tree(c))
        snprintf(d->note, sizeof d->note, "%s", tree_copy_note(c->tree));
    if (is_index(c) && lacks->bits) {
        d->want = lacks->bits;
        d->want_len = tree_want_bytes(lacks->n);
    }
}

static int begin_tree(struct bcast_copy *c)
{
    int why = tree_copy_prepare(c->tree);

    if (why == ENOSPC)
        say_lack(c);
    return why;
}

int bcast_copy_finish(struct bcast_copy *c)
{
    const struct bcast_order *o = c->order;

    if (is_tree(c))
        return tree_copy_finish(c->tree);
    if (is_index(c))
        return begin_tree(c);
    if (begins(c))
        return 0;
    return destination_finish(&c->file, o->mode,
                              o->flags & ORDER_TIMES ? &o->mtime_ns : NULL);
}

void bcast_copy_hand_on(struct bcast_copy *c, struct bcast_begun_list *begun)
{
    struct bcast_begun b = {
        .id = c->order->id, .tree = c->tree, .file = c->file};

    if (!begins(c) || (!b.tree && b.file.fd < 0))
        return;
    bcast_begun_put(begun, &b, &c->room.need);
    if (b.tree)
        c->index = NULL; /* it is the tree's */
    c->tree = NULL;
    c->file = DESTINATION_CLOSED;
}

void bcast_copy_abandon(struct bcast_copy *c)
{
    destination_close(&c->file);
    if (!is_index(c) || !c->tree)
        free(c->index);
    c->index = NULL;
    tree_copy_destroy(c->tree);
    c->tree = NULL;
}
