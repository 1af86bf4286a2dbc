/* SPDX-License-Identifier: BSD-2-Clause */
/* From the socket to the owner: the handshake, then heads, and bytes that are
 * read right into the owner's place. */
#include "pmix_bcast/link_lane.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <sys/uio.h>

#define TURN_BYTES (512u << 10) /* read at once, before others have a turn */

static const char babble[] = "the other end does not speak evenstep's protocol";

static void give_up_changed(struct link *l)
{
    l->is_changed = 1;
    link_give_up(l, "a message was changed on its way");
}

int link_is_changed(const struct link *l)
{
    return l->is_changed;
}

static int make_seals(struct link *l)
{
    const struct handshake *h = &l->handshake;
    int encrypt_it = h->secret.encrypt != 0, calls = l->is_caller;
    struct connection_keys k;

    handshake_keys(h, &k);
    l->seal_out = seal_create(calls ? k.to_listener : k.to_caller, encrypt_it);
    l->seal_in = seal_create(calls ? k.to_caller : k.to_listener, encrypt_it);
    l->tail = encrypt_it ? TAG_BYTES : 0;
    sodium_memzero(&k, sizeof k);
    return l->seal_out && l->seal_in ? 0 : -1;
}

static void open_up(struct link *l)
{
    if (make_seals(l) < 0) {
        link_give_up(l, "out of memory");
        return;
    }
    listener_release(&l->unproven);
    l->stage = OPEN;
    event_del(l->timer);
    if (l->on->opened)
        l->on->opened(l, l->arg);
    link_wake(l);
}

static void shake(struct link *l)
{
    struct message_head m;
    uint8_t out[HANDSHAKE_MAX];
    uint16_t type;
    size_t n;

    if (message_decode(&m, l->in, l->in_len, HANDSHAKE_MAX) != 1) {
        link_give_up(l, babble);
        return;
    }
    if (l->in_len < MESSAGE_HEAD + m.length)
        return;
    type = m.type;
    if (handshake_step(&l->handshake, &type, l->in + MESSAGE_HEAD, m.length,
                       out, &n)
        < 0) {
        link_give_up(l, "the other end cannot prove who it is");
        return;
    }
    l->in_len = 0;
    if (n > 0) {
        link_queue_handshake(l, type, out, n);
        link_send(l);
    }
    if (l->handshake.stage == HANDSHAKE_DONE && l->stage == SHAKING)
        open_up(l);
}

/* How many bytes of in are due before it can be looked at. */
static size_t due(const struct link *l)
{
    struct message_head m;

    if (l->stage == OPEN)
        return LINK_HEAD;
    if (l->in_len < MESSAGE_HEAD
        || message_decode(&m, l->in, l->in_len, HANDSHAKE_MAX) != 1)
        return MESSAGE_HEAD;
    return MESSAGE_HEAD + m.length;
}

static void end_message(struct link *l)
{
    int is_lanes;

    l->in_bytes = 0;
    l->in_len = 0;
    if (link_lane_hear(l, &is_lanes) < 0)
        link_give_up(l, babble);
    if (is_lanes)
        return;
    if (link_head_is_packed(&l->head) && link_unpack(l) < 0)
        link_give_up(l, babble);
    if (l->stage == OPEN && l->on->taken(l, l->arg, &l->head, l->place) < 0)
        link_give_up(l, "the other end does not keep to the protocol");
}

static uint8_t *place_for(struct link *l)
{
    if (l->head.type == LINK_FABRIC)
        return link_lane_place(l);
    return l->on->place && !link_head_is_packed(&l->head)
               ? l->on->place(l, l->arg, &l->head)
               : NULL;
}

/* Without a place the bytes are read into a sink of our own, and forgotten; or
 * opened from there. */
static void begin_bytes(struct link *l)
{
    l->got = 0;
    l->place = place_for(l);
    if (l->stage != OPEN)
        return;
    l->in_bytes = 1;
    if (link_begin_aside(l, end_message))
        return;
    link_ready(l);
    if (!l->place && link_sink(l) < 0)
        link_give_up(l, "out of memory");
}

static void take_head(struct link *l)
{
    size_t len = LINK_HEAD - TAG_BYTES;

    if (seal_get(l->seal_in, l->in, len, NULL, 0, l->in + len) < 0) {
        give_up_changed(l);
        return;
    }
    if (link_head_decode(&l->head, l->in, l->chunk_max, l->tail) < 0) {
        link_give_up(l, babble);
        return;
    }
    l->place = NULL;
    l->in_len = 0;
    if (l->head.size > 0)
        begin_bytes(l);
    else
        end_message(l);
}

static uint8_t *bytes_of(const struct link *l)
{
    return l->place ? l->place : l->sink;
}

/* The chunk's tag stands in `in`. */
static void check_bytes(struct link *l)
{
    if (seal_get(l->seal_in, NULL, 0, bytes_of(l), l->head.size, l->in) < 0)
        give_up_changed(l);
    else
        end_message(l);
}

/* n bytes have come for the chunk; returns how many of them are its own. */
static size_t account_bytes(struct link *l, size_t n)
{
    size_t left = l->head.size - l->got, part = left < n ? left : n, tag;
    uint32_t tail = link_head_tail(&l->head, l->tail);

    l->got += part;
    if (l->got < l->head.size)
        return part;
    if (tail == 0) {
        end_message(l);
        return part;
    }
    tag = n - part < tail - l->in_len ? n - part : tail - l->in_len;
    l->in_len += tag;
    if (l->in_len < tail)
        return n;
    check_bytes(l);
    return part + tag;
}

/* n bytes have come, first those of the chunk, then those of the next head. */
static void account(struct link *l, size_t n)
{
    if (l->in_bytes) {
        n -= account_bytes(l, n);
        if (l->in_bytes || l->stage == DEAD)
            return;
        l->in_len = n; /* read behind it, into in; see read_some() */
    } else {
        l->in_len += n;
    }
    while (l->stage < DEAD && !l->in_bytes && l->in_len >= due(l)
           && l->in_len > 0) {
        if (l->stage == OPEN)
            take_head(l);
        else
            shake(l);
    }
}

/* The rest of the chunk, if there is one due, and what is due of in: its tag,
 * or, as then it is all that has to be kept apart, the next head: of all of it as
 * much as has come. */
static ssize_t read_some(struct link *l, size_t *all)
{
    uint32_t tail = link_head_tail(&l->head, l->tail);
    size_t want = l->in_bytes ? (tail > 0 ? tail : LINK_HEAD) : due(l);
    struct iovec to[2];
    int n = 0;

    if (l->in_bytes && l->got < l->head.size) {
        to[n].iov_base = bytes_of(l) + l->got;
        to[n++].iov_len = l->head.size - l->got;
    }
    to[n].iov_base = l->in + l->in_len;
    to[n++].iov_len = want - l->in_len;
    *all = to[0].iov_len + (n > 1 ? to[1].iov_len : 0);
    return readv(l->fd, to, n);
}

/* Where they have a tag all bytes are looked at, also those that came before. */
void link_forget_place(struct link *l)
{
    uint8_t *place;

    (void)link_take_back(l);
    place = l->place;
    l->place = NULL;
    if (!l->in_bytes || !place)
        return;
    if (!l->sink)
        l->sink = malloc(l->chunk_max);
    if (l->sink) {
        memcpy(l->sink, place, l->got);
        return;
    }
    l->busy++;
    link_give_up(l, "out of memory");
    l->busy--;
    link_release(l);
}

int link_is_taking(const struct link *l, uint32_t chunk)
{
    return l->in_bytes && l->place
           && (chunk == LINK_EACH || l->head.chunk == chunk);
}

void link_on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct link *l = arg;
    size_t turn = 0, all = 0;
    ssize_t n = 0;

    (void)fd;
    (void)what;
    l->busy++;
    /* Less than there was room for is all that has come: the loop says when there
     * is more. */
    while (l->stage != DEAD && !l->held && !l->is_aside && turn < TURN_BYTES
           && n >= (ssize_t)all) {
        n = read_some(l, &all);

        if (n > 0) {
            turn += (size_t)n;
            account(l, (size_t)n);
        } else if (n == 0) {
            link_give_up(l, l->stage == OPEN
                                ? "the other end has gone"
                                : "the other end hung up in the handshake");
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            link_give_up(l, strerror(errno));
        }
    }
    l->busy--;
    link_release(l);
}
