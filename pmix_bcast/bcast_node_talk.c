/* SPDX-License-Identifier: BSD-2-Clause */
/* What the peers of a node say, and are told. */
#include "pmix_bcast/bcast_node_state.h"
#include "pmix_bcast/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int is_good_chunk(const struct bcast_node *b, const struct link_head *h)
{
    return h->broadcast == b->order.id && h->chunk < b->order.plan.chunks
           && h->size == bcast_copy_size(&b->copy, h->chunk);
}

/* Without memory the chunk is lost, and pulled later. */
static uint8_t *buffer_of(struct rail *rail)
{
    const struct peer *p = rail->peer;

    if (!rail->buffer)
        rail->buffer = malloc(p->node->order.plan.chunk);
    return rail->buffer;
}

uint8_t *bcast_node_place(struct link *l, void *arg, const struct link_head *h)
{
    struct rail *rail = arg;
    const struct peer *p = rail->peer;
    struct bcast_node *b = p->node;
    uint8_t *place;

    (void)l;
    if (!is_good_chunk(b, h) || b->state != RECEIVING)
        return NULL;
    if (!relay_wants(b->relay, h->chunk)) {
        b->duplicates += h->size;
        return NULL;
    }
    place = bcast_copy_place(&b->copy, h->chunk);
    return place ? place : buffer_of(rail);
}

uint8_t *bcast_node_ready(void *arg, const struct link_head *h, uint8_t *place)
{
    struct rail *rail = arg;
    const struct peer *p = rail->peer;

    place = bcast_copy_ready(&p->node->copy, h->chunk, place);
    return place ? place : buffer_of(rail);
}

int bcast_node_look(void *arg, const struct link_head *h, const uint8_t *bytes)
{
    const struct rail *rail = arg;
    const struct peer *p = rail->peer;

    return rail->seal ? bcast_copy_check(&p->node->copy, rail->seal, h->chunk,
                                         bytes, h->digest)
                      : EBADMSG; /* the loop checks it, then */
}

/* It could not be stored, or its tag is not its own: -1 if the link is to be cut.
 * Then the chunk comes by another, from home by the next call. */
static int refuse_chunk(const struct peer *p,
                        const struct link_head *h,
                        int why)
{
    if (why == EBADMSG && h->flags & LINK_BY_FABRIC)
        return -1; /* it comes again, over the link */
    if (why != EBADMSG) {
        bcast_node_fail(p->node, why, "");
        return 0;
    }
    p->node->damaged |= p->rank == PLAN_NOBODY;
    return -1;
}

static int take_chunk(const struct peer *p,
                      const struct link_head *h,
                      const uint8_t *bytes)
{
    struct bcast_node *b = p->node;

    if (!is_good_chunk(b, h))
        return -1;
    if (b->state != RECEIVING)
        return 0;
    if (bytes && relay_wants(b->relay, h->chunk)) {
        int why;

        if (bcast_copy_is_lent(&b->copy, h->chunk))
            bcast_node_forget_places(b, h->chunk); /* nobody writes over it */
        why = h->is_checked
                  ? bcast_copy_put_checked(&b->copy, h->chunk, bytes, h->digest)
                  : bcast_copy_put(&b->copy, h->chunk, bytes, h->digest);
        if (why)
            return refuse_chunk(p, h, why);
    } else if (relay_wants(b->relay, h->chunk)) {
        return 0; /* there was no memory for it */
    }
    relay_got(b->relay, p->rank, h->chunk, (h->flags & LINK_AS_ROOT) != 0,
              clock_s());
    bcast_node_check(b);
    return 0;
}

int bcast_node_taken(struct link *l,
                     void *arg,
                     const struct link_head *h,
                     const uint8_t *bytes)
{
    const struct rail *rail = arg;
    const struct peer *p = rail->peer;
    struct bcast_node *b = p->node;

    (void)l;
    if (h->broadcast != b->order.id || h->chunk >= b->order.plan.chunks)
        return -1;
    if (h->type == LINK_CHUNK)
        return take_chunk(p, h, bytes);
    if (h->type == LINK_PULL) {
        relay_asked(b->relay, p->rank, h->chunk);
    } else if (h->type == LINK_ABSENT) {
        b->refused++;
        relay_absent(b->relay, p->rank, h->chunk, clock_s());
    } else if (h->type == LINK_CANCEL) {
        relay_cancelled(b->relay, p->rank, h->chunk);
    } else if (h->type == LINK_HAVE) {
        return bcast_node_heard_have(rail->peer, h);
    } else {
        return -1;
    }
    return 0;
}

static const uint16_t link_type_of[] = {
    [RELAY_CHUNK] = LINK_CHUNK,     [RELAY_PULL] = LINK_PULL,
    [RELAY_ABSENT] = LINK_ABSENT,   [RELAY_CANCEL] = LINK_CANCEL,
    [RELAY_RELAYED] = LINK_RELAYED,
};

int bcast_node_next(
    // cppcheck-suppress constParameter ; a callback has this type
    struct link *l,
    void *arg,
    struct link_head *h,
    int *fd,
    off_t *at)
{
    struct rail *rail = arg;
    struct peer *p = rail->peer;
    struct bcast_node *b = p->node;
    struct relay_item item;

    (void)l;
    if (rail == &p->other)
        return 0;
    h->broadcast = b->order.id;
    if (rail->hello_due) {
        rail->hello_due = 0;
        h->type = LINK_HELLO;
        return 1;
    }
    if (bcast_node_next_have(b, p, h))
        return 1;
    if (b->state == FAILED
        || (b->tells && p->rank != PLAN_NOBODY && !p->has_told)
        || !rails_turn(&b->rails, p->rail, rail, b->order.plan.chunk))
        return 0;
    if (!relay_next(b->relay, p->rank, &item)) {
        bcast_node_want_own(b, p);
        return 0;
    }
    b->pulls += item.kind == RELAY_PULL;
    h->type = link_type_of[item.kind];
    h->chunk = item.chunk;
    if (item.kind == RELAY_CHUNK) {
        memcpy(h->digest, b->copy.tag[item.chunk].bytes, TAG_BYTES);
        h->size = (uint32_t)bcast_copy_size(&b->copy, item.chunk);
        *fd = bcast_copy_fd(&b->copy);
        *at = (off_t)b->copy.offset[item.chunk];
        rail->sending = item.chunk;
    }
    return 1;
}

int bcast_node_read(
    // cppcheck-suppress constParameter ; a callback has this type
    struct link *l,
    void *arg,
    const struct link_head *h,
    uint8_t *bytes)
{
    const struct rail *rail = arg;
    const struct peer *p = rail->peer;

    (void)l;
    return bcast_copy_read(&p->node->copy, h->chunk, bytes);
}

void bcast_node_sent(struct link *l, void *arg, const struct link_head *h)
{
    struct rail *rail = arg;
    const struct peer *p = rail->peer;

    (void)l;
    if (h->type != LINK_CHUNK)
        return;
    rail->sending = PLAN_NOBODY;
    relay_sent(p->node->relay, p->rank, h->chunk, clock_s());
}
