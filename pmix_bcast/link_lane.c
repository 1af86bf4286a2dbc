/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chunks whose bytes go by libfabric (fabric.h) beside the link: the link
 * carries all else, in the order in which the bytes were written.
 *
 * Encrypted or compressed bytes are sealed by keys of their own, one a direction,
 * as they are counted apart from what goes over the link.  What the lane cannot
 * bring, or brings wrongly, goes over the link; its owners see none of it.
 */
#include "pmix_bcast/link_lane.h"
#include "pmix_bcast/bytes.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

struct posted {
    struct link_head wanted, sent; /* as its owner said it; as it is packed */
    int file;
    off_t at;
};

struct link_lane {
    struct lane *lane;
    struct seal *seal_out, *seal_in; /* NULL until we have offered a place */
    int offer_due, refuse_due;
    int has_refused;                        /* what comes is not right */
    struct posted posted[FABRIC_SLOTS_MAX]; /* by number, modulo that */
    uint32_t filled, told, freed;           /* of them, as the lane counts */
    uint32_t again; /* of a failed lane: the next to be sent otherwise */
    int goes_again; /* again is set */
    uint8_t body[FABRIC_BODY_MAX];
};

/* --- begin and end -------------------------------------------------------- */

/* There is something for the link to say. */
static void on_lane(void *arg)
{
    link_wake(arg);
}

static struct seal *seal_of(const uint8_t key[KEY_BYTES], int encrypt)
{
    static const char what[] = "evenstep: chunks beside this connection";
    uint8_t own[KEY_BYTES];
    struct seal *s = NULL;

    if (crypto_generichash(own, sizeof own, (const uint8_t *)what,
                           sizeof what - 1, key, KEY_BYTES)
        == 0)
        s = seal_create(own, encrypt);
    sodium_memzero(own, sizeof own);
    return s;
}

static int make_seals(struct link_lane *a, const struct link *l)
{
    struct connection_keys k;
    int encrypt = l->tail > 0;

    handshake_keys(&l->handshake, &k);
    a->seal_out = seal_of(l->is_caller ? k.to_listener : k.to_caller, encrypt);
    a->seal_in = seal_of(l->is_caller ? k.to_caller : k.to_listener, encrypt);
    sodium_memzero(&k, sizeof k);
    return a->seal_out && a->seal_in ? 0 : -1;
}

void link_set_fabric(struct link *l, struct fabric *f, int takes)
{
    if (!f || !fabric_is_open(f) || l->lane || l->stage == DEAD)
        return;
    l->lane = calloc(1, sizeof *l->lane);
    if (!l->lane)
        return;
    l->lane->lane = lane_create(f, l->chunk_max + TAG_BYTES, takes, on_lane, l);
    if (!l->lane->lane) {
        link_lane_end(l);
        return;
    }
    l->lane->offer_due = 1;
    if (l->offered && lane_meet(l->lane->lane, l->offered) < 0) {
        link_lane_end(l);
        return;
    }
    link_wake(l);
}

void link_lane_end(struct link *l)
{
    if (!l->lane)
        return;
    lane_destroy(l->lane->lane);
    seal_destroy(l->lane->seal_out);
    seal_destroy(l->lane->seal_in);
    free(l->lane);
    l->lane = NULL;
}

uint64_t link_lane_queued(const struct link *l)
{
    return l->lane ? lane_queued(l->lane->lane) : 0;
}

/* --- what the link says for it -------------------------------------------- */

/* Its keys are known once the link is open. */
static int say_offer(struct link *l)
{
    struct link_lane *a = l->lane;
    struct fabric_place p;
    struct writer w = {0};
    int rc = 0;

    a->offer_due = 0;
    if (make_seals(a, l) < 0)
        return -1;
    lane_offer(a->lane, &p);
    fabric_write_place(&w, &p);
    l->sending = (struct link_head){.type = LINK_FABRIC};
    l->sending.size = (uint32_t)w.len;
    if (w.bad || w.len > FABRIC_BODY_MAX || link_room(l) < 0)
        rc = -1;
    if (rc == 0) {
        memcpy(l->loaded, w.buf, w.len);
        l->is_loaded = 1;
        rc = crypto_generichash(l->sending.digest, TAG_BYTES, w.buf, w.len,
                                NULL, 0);
    }
    writer_clear(&w);
    errno = ENOMEM; /* what else it can be */
    return rc == 0 ? 1 : -1;
}

/* The oldest write has arrived.  Its size goes as a number, as no bytes
 * follow. */
static int say_placed(struct link *l)
{
    struct link_lane *a = l->lane;
    const struct link_head *sent = &a->posted[a->told % FABRIC_SLOTS_MAX].sent;

    l->sending = *sent;
    l->sending.type = LINK_PLACED;
    l->sending.bytes = sent->bytes << 32 | sent->size;
    l->sending.size = 0;
    l->bytes_sent += sent->size;
    a->told++;
    lane_told(a->lane);
    return 1;
}

/* A chunk of a failed lane, as if it had not been there. */
static int say_again(struct link *l)
{
    struct link_lane *a = l->lane;
    const struct posted *p = &a->posted[a->again++ % FABRIC_SLOTS_MAX];

    l->sending = p->wanted;
    l->file = p->file;
    l->at = p->at;
    return 1;
}

int link_lane_next(struct link *l)
{
    struct link_lane *a = l->lane;

    if (!a)
        return 0;
    if (a->offer_due && (!l->is_caller || l->has_spoken))
        return say_offer(l);
    if (a->refuse_due || lane_owes(a->lane)) {
        l->sending.type = a->refuse_due ? LINK_REFUSED : LINK_FREED;
        l->sending.chunk = lane_say(a->lane);
        a->refuse_due = 0;
        return 1;
    }
    if (lane_has_failed(a->lane)) {
        if (!a->goes_again) {
            a->goes_again = 1;
            a->again = a->told;
        }
        return a->again != a->filled ? say_again(l) : 0;
    }
    return lane_arrived(a->lane) > 0 ? say_placed(l) : 0;
}

/* --- chunks that go by it ------------------------------------------------- */

int link_lane_is_open(const struct link *l)
{
    return l->lane && lane_is_open(l->lane->lane);
}

int link_lane_is_full(const struct link *l)
{
    const struct lane *a = l->lane ? l->lane->lane : NULL;

    if (!a || (l->is_caller && !l->has_spoken))
        return 0;
    return !lane_is_settled(a) || (lane_is_open(a) && !lane_room(a));
}

/* What follows a chunk's bytes in its slot. */
static uint32_t tail_of(const struct link *l, const struct link_head *h)
{
    return link_head_tail(h, l->tail);
}

/* The chunk's bytes right into the slot: as they are, compressed, encrypted. */
static int fill(struct link *l, uint8_t *slot)
{
    uint8_t *loaded = l->loaded;
    int rc;

    l->loaded = slot;
    rc = link_pack(l);
    if (rc == 0 && !l->is_loaded)
        rc = link_read(l);
    l->loaded = loaded;
    if (rc < 0 || tail_of(l, &l->sending) == 0 || l->stage != OPEN)
        return rc;
    return seal_put(l->lane->seal_out, NULL, 0, slot, l->sending.size,
                    slot + l->sending.size);
}

int link_lane_send(struct link *l)
{
    struct link_lane *a = l->lane;
    struct posted *p = &a->posted[a->filled % FABRIC_SLOTS_MAX];

    *p = (struct posted){.wanted = l->sending, .file = l->file, .at = l->at};
    if (fill(l, lane_room(a->lane)) < 0)
        return -1; /* the lane may have ended */
    p->sent = l->sending;
    a->filled++;
    lane_write(a->lane, p->sent.size + tail_of(l, &p->sent));
    l->is_loaded = 0;
    return 0;
}

/* --- what the link hears for it ------------------------------------------- */

uint8_t *link_lane_place(const struct link *l)
{
    return l->lane ? l->lane->body : NULL;
}

/* We have no lane yet.  Without memory all goes by TCP. */
static int keep_offer(struct link *l, const struct fabric_place *p)
{
    if (l->offered)
        return -1;
    l->offered = malloc(sizeof *l->offered);
    if (l->offered)
        *l->offered = *p;
    return 0;
}

/* The other end's place.  Its digest is in a head that cannot be forged. */
static int hear_offer(struct link *l)
{
    const uint8_t *body = l->lane ? l->lane->body : l->sink;
    uint8_t digest[TAG_BYTES];
    struct fabric_place p;

    if (crypto_generichash(digest, sizeof digest, body, l->head.size, NULL, 0)
            != 0
        || sodium_memcmp(digest, l->head.digest, sizeof digest) != 0
        || fabric_read_place(&p, body, l->head.size) < 0)
        return -1;
    if (!l->lane)
        return keep_offer(l, &p);
    if (lane_meet(l->lane->lane, &p) < 0)
        return -1;
    link_wake(l);
    return 0;
}

/* From the slot to a place of ours, where nobody else writes.  1, or 0 if it is
 * not what was sent, -1: no memory. */
static int copy_out(struct link *l, const uint8_t *slot)
{
    uint32_t size = l->head.size;
    uint8_t *to = l->place, tag[TAG_BYTES];

    if (!to && link_sink(l) < 0)
        return -1;
    if (!to)
        to = l->sink;
    memcpy(to, slot, size);
    if (tail_of(l, &l->head) == 0)
        return 1;
    memcpy(tag, slot + size, sizeof tag);
    return seal_get(l->lane->seal_in, NULL, 0, to, size, tag) == 0;
}

/* Returns 1 if the owner took it, or ended the link; 0 if it is not right, -1 if
 * memory ran out. */
static int take(struct link *l, const uint8_t *slot)
{
    struct link_head *h = &l->head;
    int rc;

    l->place = l->on->place && !link_head_is_packed(h)
                   ? l->on->place(l, l->arg, h)
                   : NULL;
    if (l->stage != OPEN)
        return 1;
    link_ready(l);
    rc = copy_out(l, slot);
    if (rc <= 0)
        return rc;
    if (link_head_is_packed(h) && link_unpack(l) < 0)
        return 0;
    return l->stage != OPEN || l->on->taken(l, l->arg, h, l->place) == 0;
}

/* A chunk's bytes stand in the next slot. */
static int hear_placed(struct link *l)
{
    struct link_lane *a = l->lane;
    struct link_head *h = &l->head;
    uint32_t size = (uint32_t)h->bytes;
    const uint8_t *slot;
    int rc;

    if (!a || size == 0 || size > l->chunk_max || !a->seal_in)
        return -1;
    h->type = LINK_CHUNK;
    h->size = size;
    h->bytes >>= 32;
    h->flags |= LINK_BY_FABRIC;
    slot = lane_take(a->lane, size + tail_of(l, h));
    if (!slot)
        return -1;
    if (a->has_refused)
        return 0;
    rc = take(l, slot);
    if (l->stage != OPEN)
        return 0; /* and the lane has ended */
    if (rc > 0)
        lane_take_end(a->lane);
    a->has_refused = a->refuse_due = rc == 0;
    link_wake(l);
    return rc < 0 ? -1 : 0;
}

static int hear_freed(struct link *l)
{
    struct link_lane *a = l->lane;

    if (!a || lane_freed(a->lane, l->head.chunk) < 0)
        return -1;
    a->freed = l->head.chunk;
    link_wake(l);
    return 0;
}

/* What came was not right: all that it has not freed goes over the link. */
static int hear_refused(struct link *l)
{
    struct link_lane *a = l->lane;

    if (hear_freed(l) < 0 || a->told == a->freed)
        return -1;
    lane_give_up(a->lane);
    a->goes_again = 1;
    a->again = a->freed;
    return 0;
}

int link_lane_hear(struct link *l, int *is_ours)
{
    uint16_t type = l->head.type;

    *is_ours = type >= LINK_FABRIC && type <= LINK_REFUSED;
    switch (type) {
    case LINK_FABRIC:
        return hear_offer(l);
    case LINK_PLACED:
        return hear_placed(l);
    case LINK_FREED:
        return hear_freed(l);
    case LINK_REFUSED:
        return hear_refused(l);
    default:
        return 0;
    }
}
