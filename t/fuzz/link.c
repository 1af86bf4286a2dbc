/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A link that was taken in, and a caller who writes what it likes: at once,
 * or behind a right handshake if the first byte is odd, and then with a right
 * tag behind each 48 bytes, as a head has it, if its next bit is set.  The
 * second byte says how many bytes come at a time.
 */
#include "pmix_bcast/link.h"
#include "knowing.h"

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

    must(h->type >= LINK_HELLO && h->type <= LINK_LACK
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

static void shake(struct knowing *k,
                  int fd,
                  const struct secret *secret,
                  const struct owner *o)
{
    static const struct parties parties = {PURPOSE_MESH, 1, 2};

    must(knowing_hello(k, fd, secret, &parties) == 0);
    turn();
    must(knowing_prove(k) == 0);
    turn();
    must(link_is_open(o->link));
}

static void heads(const uint8_t *data, size_t size)
{
    uint8_t again[LINK_HEAD];
    struct link_head h;

    if (size < LINK_HEAD)
        return;
    if (link_head_decode(&h, data, CHUNK_BOUND, 0) < 0) {
        must(h.type == 0 && h.size == 0);
        return;
    }
    must(h.size <= CHUNK_BOUND);
    link_head_encode(again, &h, 0);
    must(memcmp(again, data, LINK_HEAD - TAG_BYTES) == 0);
}

/* With a tag behind every head's worth of it, or as it is. */
static void say_all(struct knowing *k,
                    const struct owner *o,
                    const uint8_t *data,
                    size_t size,
                    size_t step)
{
    uint8_t head[LINK_HEAD];
    size_t len = LINK_HEAD - TAG_BYTES;

    for (; k->out && size >= len && o->link; data += len, size -= len) {
        memcpy(head, data, len);
        must(seal_put(k->out, head, len, NULL, 0, head + len) == 0);
        put(k->fd, head, sizeof head);
    }
    for (size_t at = 0; at < size && o->link; at += step)
        put(k->fd, data + at, size - at < step ? size - at : step);
}

static struct listener *door(const struct secret *secret)
{
    static struct listener *l;
    const struct listener_setup setup = {.base = base,
                                         .secret = secret,
                                         .purpose = PURPOSE_MESH,
                                         .self = 2,
                                         .loopback = 1};

    if (!l)
        must(listener_open(&l, &setup, NULL) == 0);
    return l;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct secret secret = {{1, 2, 3}, 0};
    struct owner o = {0};
    struct knowing k = {0};
    int pair[2];

    heads(data, size);
    if (size < 2)
        return 0;
    if (!base)
        base = event_base_new();
    must(base
         && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
                       pair)
                == 0);
    o.link = link_take(base, pair[0], door(&secret), &events, &o);
    must(o.link != NULL);
    link_set_chunk(o.link, CHUNK_BOUND);
    k.fd = pair[1];
    if (data[0] & 1)
        shake(&k, pair[1], &secret, &o);
    if (!(data[0] & 2)) {
        seal_destroy(k.out);
        k.out = NULL;
    }
    say_all(&k, &o, data + 2, size - 2,
            data[1] > 0 ? (size_t)data[1] * data[1] : size);
    knowing_end(&k);
    turn();
    must(o.link == NULL);
    free(o.place);
    return 0;
}
