/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A link that was taken in, and a caller who writes what it likes: at once,
 * or behind a right handshake if the first byte is odd.  The second byte says
 * how many bytes come at a time.
 */
#include "pmix_bcast/link.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_BOUND 4096u
#define REFUSED     99u /* a chunk that the owner does not take */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct owner {
    struct link *link;
    uint8_t *place; /* just as large as the chunk */
    uint32_t to_answer;
};

static void must(int holds)
{
    if (!holds)
        abort();
}

static void on_opened(struct link *l, void *arg)
{
    (void)arg;
    must(link_is_open(l));
}

static uint8_t *on_place(struct link *l, void *arg, const struct link_head *h)
{
    struct owner *o = arg;

    (void)l;
    must(h->type == LINK_CHUNK && h->size > 0 && h->size <= CHUNK_BOUND);
    free(o->place);
    o->place = h->flags & LINK_AS_ROOT ? NULL : malloc(h->size);
    return o->place;
}

static int on_taken(struct link *l,
                    void *arg,
                    const struct link_head *h,
                    const uint8_t *bytes)
{
    struct owner *o = arg;

    must(h->type >= LINK_HELLO && h->type <= LINK_GREETED
         && (h->size > 0) == (h->type == LINK_CHUNK)
         && bytes == (h->size > 0 ? o->place : NULL));
    if (h->type == LINK_CANCEL) {
        link_destroy(l);
        o->link = NULL;
        return 0;
    }
    o->to_answer += h->type == LINK_PULL;
    link_wake(l);
    return h->chunk == REFUSED ? -1 : 0;
}

static int on_next(
    struct link *l, void *arg, struct link_head *h, int *fd, off_t *at)
{
    struct owner *o = arg;

    (void)l;
    (void)fd;
    (void)at;
    if (o->to_answer == 0)
        return 0;
    o->to_answer--;
    h->type = LINK_ABSENT;
    return 1;
}

static void on_sent(struct link *l, void *arg, const struct link_head *h)
{
    (void)l;
    (void)arg;
    must(h->type == LINK_ABSENT);
}

static void on_closed(struct link *l, void *arg, const char *why)
{
    struct owner *o = arg;

    (void)l;
    must(why[0] != '\0');
    o->link = NULL;
}

static const struct link_events events = {
    .opened = on_opened,
    .place = on_place,
    .taken = on_taken,
    .next = on_next,
    .sent = on_sent,
    .closed = on_closed,
};

static struct event_base *base;

static void turn(void)
{
    for (int i = 0; i < 3; i++)
        event_base_loop(base, EVLOOP_NONBLOCK);
}

/* What is not taken is lost: the link has ended. */
static void put(int fd, const void *bytes, size_t len)
{
    if (send(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return;
    turn();
}

static void put_message(int fd, uint16_t type, const void *body, size_t len)
{
    struct message_head m = {type, (uint32_t)len};
    uint8_t bytes[MESSAGE_HEAD + HANDSHAKE_MAX];

    message_encode(bytes, &m);
    memcpy(bytes + MESSAGE_HEAD, body, len);
    put(fd, bytes, MESSAGE_HEAD + len);
}

static void shake(int fd, const struct secret *secret, const struct owner *o)
{
    uint8_t hello[NONCE_BYTES], proof[MAC_BYTES];
    uint8_t answer[MESSAGE_HEAD + HANDSHAKE_MAX];
    struct handshake h;

    handshake_init(&h, secret);
    caller_hello(&h, hello);
    put_message(fd, MESSAGE_HELLO, hello, sizeof hello);
    must(recv(fd, answer, sizeof answer, MSG_DONTWAIT)
         == (ssize_t)sizeof answer);
    must(caller_proof(&h, answer + MESSAGE_HEAD, proof) == 0);
    put_message(fd, MESSAGE_PROOF, proof, sizeof proof);
    must(link_is_open(o->link));
}

static void heads(const uint8_t *data, size_t size)
{
    uint8_t again[LINK_HEAD];
    struct link_head h;

    if (size < LINK_HEAD)
        return;
    if (link_head_decode(&h, data, CHUNK_BOUND) < 0) {
        must(h.type == 0 && h.size == 0);
        return;
    }
    must(h.size <= CHUNK_BOUND);
    link_head_encode(again, &h);
    must(memcmp(again, data, LINK_HEAD) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct secret secret = {{1, 2, 3}};
    struct owner o = {0};
    int pair[2];
    size_t step;

    heads(data, size);
    if (size < 2)
        return 0;
    if (!base)
        base = event_base_new();
    must(base
         && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
                       pair)
                == 0);
    o.link = link_take(base, pair[0], &secret, &events, &o);
    must(o.link != NULL);
    link_set_chunk(o.link, CHUNK_BOUND);
    if (data[0] & 1)
        shake(pair[1], &secret, &o);
    step = data[1] > 0 ? (size_t)data[1] * data[1] : size;
    for (size_t at = 2; at < size && o.link; at += step)
        put(pair[1], data + at, size - at < step ? size - at : step);
    close(pair[1]);
    turn();
    must(o.link == NULL);
    free(o.place);
    return 0;
}
