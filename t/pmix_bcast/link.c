/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real sockets on loopback and a real file.  One end is a link that calls or
 * is taken in, the other a link too or a stranger who writes what it likes.
 * Libevent's allocations fail here when ours do.
 */
#include "pmix_bcast/link.h"
#include "fault.h"
#include "knowing.h"
#include "loop.h"
#include "pmix_bcast/bytes.h"
#include "tap.h"

#include <event2/event.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CHUNK     (1u << 20)
#define SENDS_MAX 400

static const char foreign[] = "the other end cannot prove who it is";
static const char babble[] = "the other end does not speak evenstep's protocol";
static const char breach[] = "the other end does not keep to the protocol";
static const char gone[] = "the other end has gone";

enum when { NEVER, AT_OPENED, AT_PLACE, AT_TAKEN, AT_NEXT, AT_SENT, AT_CLOSED };

struct end {
    struct link *link;
    int opened, closed, taken, sent, placed;
    struct link_head to_send[SENDS_MAX], head; /* head: the last taken */
    int sends, next;
    uint8_t *place; /* NULL: bytes are thrown away */
    int refuse, garbled, disorder;
    char why[100];
    int changed; /* link_is_changed() at the end */
    int hold;    /* after the next message */
    enum when destroy;
    int destroyed, after; /* heard after it was destroyed */
};

static struct event *tick; /* so that the loop always turns */
static struct listener *listener;
static struct secret secret, other;
static struct end caller, guest;
static const struct parties parties = {PURPOSE_MESH, 7, 9};
static int file;
static uint8_t *content, *room; /* of the file; where chunks are put */

/* --- a kernel that takes little at once ----------------------------------- */

static size_t most;    /* bytes; 0: as many as there are */
static unsigned calls; /* of them every third is interrupted, or too early */

static int refuses(void)
{
    if (most == 0 || calls++ % 3 != 0)
        return 0;
    errno = calls % 2 ? EINTR : EAGAIN;
    return 1;
}

/* Instead of the C library's. */
ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
    if (refuses())
        return -1;
    return syscall(SYS_sendto, fd, bytes, most && n > most ? most : n, flags,
                   NULL, 0);
}

ssize_t sendfile(int to, int from, off_t *at, size_t n)
{
    if (refuses())
        return -1;
    return syscall(SYS_sendfile, to, from, at, most && n > most ? most : n);
}

static void end_it(struct end *e, struct link *l, enum when now)
{
    e->after += e->destroyed;
    if (e->destroy != now)
        return;
    link_destroy(l);
    e->link = NULL;
    e->destroyed = 1;
}

static void on_opened(struct link *l, void *arg)
{
    struct end *e = arg;

    e->opened++;
    link_wake(l);
    end_it(e, l, AT_OPENED);
}

static uint8_t *on_place(struct link *l, void *arg, const struct link_head *h)
{
    struct end *e = arg;

    e->placed++;
    e->garbled |= h->type != LINK_CHUNK || h->size == 0;
    end_it(e, l, AT_PLACE);
    return e->place;
}

static int on_taken(struct link *l,
                    void *arg,
                    const struct link_head *h,
                    const uint8_t *bytes)
{
    struct end *e = arg;

    e->disorder |= h->broadcast != (uint32_t)e->taken;
    e->taken++;
    e->head = *h;
    e->garbled |= bytes != (h->size > 0 ? e->place : NULL);
    if (bytes)
        e->garbled |= memcmp(bytes, content + h->chunk, h->size) != 0;
    if (e->hold)
        (void)link_hold(l, 1);
    end_it(e, l, AT_TAKEN);
    return e->refuse ? -1 : 0;
}

/* A chunk's number is where it begins in the file. */
static int on_next(
    struct link *l, void *arg, struct link_head *h, int *fd, off_t *at)
{
    struct end *e = arg;

    end_it(e, l, AT_NEXT);
    if (e->next == e->sends)
        return 0;
    *h = e->to_send[e->next++];
    *fd = file;
    *at = h->chunk;
    return 1;
}

static void on_sent(struct link *l, void *arg, const struct link_head *h)
{
    struct end *e = arg;

    e->disorder |= h->broadcast != (uint32_t)e->sent;
    e->sent++;
    end_it(e, l, AT_SENT);
}

static void on_closed(struct link *l, void *arg, const char *why)
{
    struct end *e = arg;

    snprintf(e->why, sizeof e->why, "%s", why);
    e->changed = link_is_changed(l);
    e->closed++;
    e->link = NULL;
    end_it(e, l, AT_CLOSED);
}

static const struct link_events events = {
    .opened = on_opened,
    .place = on_place,
    .taken = on_taken,
    .next = on_next,
    .sent = on_sent,
    .closed = on_closed,
};

/* Who listens only, and who speaks only. */
static const struct link_events listens = {.taken = on_taken,
                                           .closed = on_closed};
static const struct link_events speaks = {
    .taken = on_taken, .next = on_next, .closed = on_closed};
static const struct link_events *caller_on = &events, *guest_on = &events;

static void on_called(void *arg, struct listener *l, int fd)
{
    (void)arg;
    guest.link = link_take(base, fd, l, guest_on, &guest);
    if (guest.link)
        link_set_chunk(guest.link, CHUNK);
}

static void turn(int times)
{
    for (int i = 0; i < times; i++)
        event_base_loop(base, EVLOOP_ONCE);
}

static void on_tick(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
}

static void finish(void)
{
    link_destroy(caller.link);
    link_destroy(guest.link);
    memset(&caller, 0, sizeof caller);
    memset(&guest, 0, sizeof guest);
    caller.place = room;
    guest.place = room + 2u * CHUNK;
    listener_close(listener);
    listener = NULL;
    if (tick)
        event_free(tick);
    if (base)
        event_base_free(base);
    tick = NULL;
    base = NULL;
}

static void fresh(void)
{
    struct timeval often = {0, 20000};
    struct listener_setup door = {.secret = &secret,
                                  .purpose = PURPOSE_MESH,
                                  .self = 9,
                                  .loopback = 1,
                                  .called = on_called};

    finish();
    base = event_base_new();
    tick = base ? event_new(base, -1, EV_PERSIST, on_tick, NULL) : NULL;
    door.base = base;
    if (!tick || event_add(tick, &often) < 0
        || listener_open(&listener, &door, NULL) < 0)
        bail("no listener");
}

static struct sockaddr_in address(void)
{
    struct sockaddr_in in = {.sin_family = AF_INET};

    in.sin_port = htons(listener_port(listener));
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return in;
}

static void call(const struct secret *s, struct sockaddr_in in)
{
    caller.link = link_call(base, (struct sockaddr *)&in, sizeof in, s,
                            &parties, caller_on, &caller);
    if (!caller.link)
        bail("no link");
    link_set_chunk(caller.link, CHUNK);
}

static void open_both(void)
{
    fresh();
    call(&secret, address());
    until(caller.opened && guest.opened);
}

/* To be sent next; its broadcast is its number, so that order shows. */
static void send_next(struct end *e,
                      uint16_t type,
                      uint32_t chunk,
                      uint32_t size)
{
    struct link_head *h = &e->to_send[e->sends];

    *h = (struct link_head){.type = type,
                            .broadcast = (uint32_t)e->sends,
                            .chunk = chunk,
                            .flags = chunk % 2 ? LINK_AS_ROOT : 0,
                            .bytes = UINT64_C(0x0123456789abcdef) + chunk,
                            .size = size};
    e->sends++;
    if (e->link)
        link_wake(e->link);
}

/* --- heads ---------------------------------------------------------------- */

static void head_bytes(uint8_t bytes[LINK_HEAD], uint16_t type, uint32_t size)
{
    struct link_head h = {.type = type, .broadcast = 1, .size = size};

    link_head_encode(bytes, &h, 0);
}

/* By their fields: what lies between them may be anything. */
static int same_head(const struct link_head *a, const struct link_head *b)
{
    return a->type == b->type && a->broadcast == b->broadcast
           && a->chunk == b->chunk && a->flags == b->flags
           && a->bytes == b->bytes && a->size == b->size
           && memcmp(a->digest, b->digest, TAG_BYTES) == 0;
}

static void test_heads(void)
{
    static const uint8_t want[LINK_HEAD - TAG_BYTES] = {
        'E',  'V',  'S',  '2',  0,    0,    0,    0,    0,    0,    0x04, 52,
        1,    2,    3,    4,    5,    6,    7,    8,    0,    0,    0,    1,
        0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x20, 0x21, 0x22, 0x23,
        0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f};
    struct link_head in = {.type = LINK_CHUNK,
                           .broadcast = 0x01020304,
                           .chunk = 0x05060708,
                           .flags = LINK_AS_ROOT,
                           .bytes = UINT64_C(0x0a0b0c0d0e0f1011),
                           .size = 1024};
    struct link_head out;
    uint8_t bytes[LINK_HEAD], whole[LINK_HEAD];
    int taken = 0;

    for (uint8_t i = 0; i < TAG_BYTES; i++)
        in.digest[i] = (uint8_t)(0x20 + i);
    link_head_encode(bytes, &in, 0);
    ok(memcmp(bytes, want, 4) == 0
           && memcmp(bytes + 6, want + 6, sizeof want - 6) == 0
           && bytes[4] == LINK_CHUNK >> 8 && bytes[5] == (LINK_CHUNK & 255),
       "a head is big-endian, its length the bytes and what follows it");
    ok(link_head_decode(&out, bytes, 1024, 0) == 0 && same_head(&out, &in),
       "and comes back, if it is not above the bound");
    ok(link_head_decode(&out, bytes, 1023, 0) == -1 && out.type == 0
           && out.size == 0,
       "a chunk above the bound is refused");
    for (uint32_t type = 0; type <= UINT16_MAX; type++) {
        head_bytes(bytes, (uint16_t)type, type == LINK_CHUNK);
        taken += link_head_decode(&out, bytes, 1, 0) == 0;
    }
    is_int(taken, LINK_HAVE - LINK_HELLO, "no other types are taken");
    head_bytes(bytes, LINK_CHUNK, 0);
    is_int(link_head_decode(&out, bytes, 1, 0), -1, "nor a chunk of no bytes");
    head_bytes(bytes, LINK_PULL, 1);
    is_int(link_head_decode(&out, bytes, 1, 0), -1, "nor a pull with some");
    head_bytes(whole, LINK_PULL, 0);
    taken = 0;
    for (uint32_t len = 0; len < LINK_HEAD - MESSAGE_HEAD; len++) {
        memcpy(bytes, whole, sizeof bytes);
        put_u32(bytes + 8, len);
        taken += link_head_decode(&out, bytes, 1024, 0) == 0;
    }
    memcpy(bytes, whole, sizeof bytes);
    put_u32(bytes + 8, UINT32_MAX);
    taken += link_head_decode(&out, bytes, UINT32_MAX, 0) == 0;
    is_int(taken, 0, "nor a length that cannot be");
    link_head_encode(bytes, &in, TAG_BYTES);
    ok(link_head_decode(&out, bytes, 1024, TAG_BYTES) == 0
           && same_head(&out, &in) && get_u32(bytes + 8) == 52 + 1024 + 16,
       "an encrypted chunk's tag counts with what follows, not with the size");
    head_bytes(bytes, LINK_CHUNK, TAG_BYTES);
    is_int(link_head_decode(&out, bytes, 1024, TAG_BYTES), -1,
           "a tag of no bytes is refused");
}

static void test_packed_head(void)
{
    struct link_head in = {
        .type = LINK_CHUNK, .flags = LINK_LZ4, .bytes = 4000, .size = 1024};
    struct link_head out;
    uint8_t bytes[LINK_HEAD];

    link_head_encode(bytes, &in, 0);
    ok(link_head_decode(&out, bytes, 1024, 0) == 0 && same_head(&out, &in)
           && get_u32(bytes + 8) == 52 + 1024 + 16,
       "and a compressed one's, also where nothing is encrypted");
}

/* --- two links ------------------------------------------------------------ */

static void test_messages(void)
{
    open_both();
    ok(caller.opened == 1 && guest.opened == 1 && link_is_open(caller.link)
           && link_is_open(guest.link),
       "one secret opens both ends, once");
    send_next(&caller, LINK_HELLO, 7, 0);
    send_next(&caller, LINK_CHUNK, 3, 1000);
    send_next(&caller, LINK_PULL, 9, 0);
    until(guest.taken == 3);
    ok(guest.taken == 3 && guest.head.type == LINK_PULL && guest.head.chunk == 9
           && guest.head.flags == LINK_AS_ROOT
           && guest.head.bytes == UINT64_C(0x0123456789abcdef) + 9,
       "messages arrive with all their fields");
    until(caller.sent == 3);
    ok(caller.sent == 3 && !caller.disorder && !guest.disorder && !guest.garbled
           && guest.placed == 1,
       "in order, and of a chunk the file's bytes");
    for (int i = 0; i < 300; i++) {
        send_next(&caller, i % 3 ? LINK_CHUNK : LINK_CANCEL, 5 * (uint32_t)i,
                  i % 3 ? 1 + 997 * (uint32_t)i : 0);
        send_next(&guest, i % 2 ? LINK_CHUNK : LINK_PULL, (uint32_t)i,
                  i % 2 ? 311 * (uint32_t)i : 0);
    }
    until(guest.taken == 303 && caller.taken == 300);
    ok(guest.taken == 303 && caller.taken == 300 && !guest.garbled
           && !caller.garbled && !guest.disorder && !caller.disorder,
       "300 more both ways at a time");
    send_next(&caller, LINK_CHUNK, 0, CHUNK);
    guest.place = NULL;
    until(guest.taken == 304);
    send_next(&caller, LINK_PULL, 0, 0);
    until(guest.taken == 305);
    ok(guest.taken == 305 && guest.placed == 202 && !guest.garbled,
       "a chunk without a place is thrown away, what follows is heard");
}

static void test_count(void)
{
    struct end second = {0};

    open_both();
    second.link = guest.link;
    second.place = guest.place;
    link_set_events(guest.link, &events, &second);
    guest.link = NULL;
    is_int(link_queued(caller.link) < 200, 1,
           "an idle link holds next to none");
    send_next(&caller, LINK_CHUNK, 0, CHUNK);
    send_next(&caller, LINK_PULL, 0, 0);
    until(second.taken == 2 && caller.sent == 2);
    ok(second.taken == 2 && guest.taken == 0,
       "whoever is set to hear a link hears it");
    until(link_queued(caller.link) == 0);
    ok(link_queued(caller.link) == 0, "what is acknowledged is not queued");
    is_int((intmax_t)link_bytes_sent(caller.link),
           2 * MESSAGE_HEAD + HELLO_BYTES + MAC_BYTES + 2 * LINK_HEAD + CHUNK,
           "all bytes are counted, the handshake's, too");
    link_destroy(second.link);
}

/* What has no callback is done without it. */
static void test_bare(void)
{
    caller_on = &speaks;
    guest_on = &listens;
    fresh();
    guest.place = NULL;
    send_next(&caller, LINK_CHUNK, 0, CHUNK);
    send_next(&caller, LINK_PULL, 1, 0);
    call(&secret, address());
    until(guest.taken == 2);
    ok(guest.taken == 2 && !guest.garbled && !guest.disorder,
       "without opened() and place() chunks are thrown away, and all is taken");
    ok(caller.next == 2 && caller.closed == 0,
       "the end that has something to say says it once it is open");
    link_wake(guest.link);
    turn(3);
    ok(guest.closed == 0, "without next() there is nothing to say");
    caller_on = guest_on = &events;
}

/* What the kernel takes in parts arrives whole. */
static void test_parts(void)
{
    most = 7;
    open_both();
    send_next(&caller, LINK_CHUNK, 100, 1000);
    send_next(&caller, LINK_PULL, 1, 0);
    send_next(&caller, LINK_CHUNK, 5, 300);
    until(guest.taken == 3 && caller.sent == 3);
    ok(guest.taken == 3 && caller.sent == 3 && !guest.garbled && !guest.disorder
           && !caller.closed && !guest.closed,
       "what is sent in parts, and again, arrives whole");
    is_int((intmax_t)link_bytes_sent(caller.link),
           (intmax_t)(2 * MESSAGE_HEAD + HELLO_BYTES + MAC_BYTES + 3 * LINK_HEAD
                      + 1300 + (secret.encrypt ? 32u : 0)),
           "and is counted once");
    most = 0;
}

static void test_hold(void)
{
    open_both();
    guest.hold = 1;
    send_next(&caller, LINK_PULL, 0, 0);
    send_next(&caller, LINK_PULL, 1, 0);
    send_next(&caller, LINK_CHUNK, 2, 1000);
    until(caller.sent == 3);
    turn(3);
    is_int(guest.taken, 1, "what follows a message is not read while held");
    guest.hold = 0;
    (void)link_hold(guest.link, 0);
    until(guest.taken == 3);
    ok(guest.taken == 3 && !guest.garbled && !guest.disorder,
       "and nothing of it is lost");
}

/* The file ends before the chunk does. */
static void test_shrunk(void)
{
    open_both();
    send_next(&caller, LINK_CHUNK, CHUNK + 1, CHUNK);
    until(caller.closed && guest.closed);
    ok(caller.closed == 1 && guest.closed == 1 && guest.taken == 0
           && caller.sent == 0 && strcmp(guest.why, gone) == 0,
       "a file that has shrunk ends the link: no chunk of it arrives");
    is_str(caller.why, strerror(ENODATA), "the sender is told why");
}

static void test_bounds(void)
{
    open_both();
    link_set_chunk(guest.link, 1000);
    send_next(&caller, LINK_CHUNK, 0, 1001);
    until(guest.closed);
    ok(guest.closed == 1 && guest.taken == 0 && guest.placed == 0
           && strcmp(guest.why, babble) == 0,
       "a chunk above the bound ends the link");
    open_both();
    guest.refuse = 1;
    send_next(&caller, LINK_PULL, 0, 0);
    send_next(&caller, LINK_PULL, 0, 0);
    until(guest.closed && caller.closed);
    ok(guest.taken == 1 && guest.closed == 1 && caller.closed == 1
           && strcmp(guest.why, breach) == 0,
       "so does a message that its owner does not take");
    test_shrunk();
}

static void test_wrong_secret(void)
{
    fresh();
    call(&other, address());
    ok(!link_is_open(caller.link), "a link is not open at once");
    until(caller.closed && guest.closed);
    ok(!caller.opened && !guest.opened && strcmp(caller.why, foreign) == 0,
       "two secrets open nothing");
}

/* Destroyed in each callback: nothing is heard after, nothing leaks. */
static void test_destroy(void)
{
    static const char *const when[] = {
        [AT_OPENED] = "opened", [AT_PLACE] = "place", [AT_TAKEN] = "taken",
        [AT_NEXT] = "next",     [AT_SENT] = "sent",   [AT_CLOSED] = "closed"};

    for (int w = AT_OPENED; w <= AT_CLOSED; w++) {
        fresh();
        guest.destroy = (enum when)w;
        call(&secret, address());
        send_next(&caller, LINK_CHUNK, 0, 100000);
        send_next(&caller, LINK_PULL, 0, 0);
        send_next(&guest, LINK_CHUNK, 0, 1000);
        if (w == AT_CLOSED) {
            until(guest.taken == 2);
            link_destroy(caller.link);
            caller.link = NULL;
        }
        until(guest.destroyed && (caller.closed || !caller.link));
        turn(3);
        ok(guest.destroyed && guest.after == 0
               && guest.closed == (w == AT_CLOSED),
           "a link may be destroyed in %s()", when[w]);
    }
    link_destroy(NULL);
}

static void test_nobody(void)
{
    struct sockaddr_in in;

    fresh();
    in = address();
    listener_close(listener);
    listener = NULL;
    call(&secret, in);
    until(caller.closed);
    is_str(caller.why, "Connection refused", "with nobody there it ends");
}

/* --- strangers ------------------------------------------------------------ */

static int stranger_connect(void)
{
    struct sockaddr_in in = address();
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (struct sockaddr *)&in, sizeof in) < 0)
        bail("cannot connect");
    return fd;
}

static void put(int fd, const void *bytes, size_t len)
{
    if (write(fd, bytes, len) != (ssize_t)len)
        bail("cannot write");
}

/* One who knows the secret and then writes byte by byte what it likes. */
static void knowing_connect(struct knowing *k)
{
    uint8_t answer[MESSAGE_HEAD + HANDSHAKE_MAX];

    if (knowing_hello(k, stranger_connect(), &secret, &parties) < 0)
        bail("no hello");
    until(recv(k->fd, answer, sizeof answer, MSG_PEEK | MSG_DONTWAIT)
          == (ssize_t)sizeof answer);
    if (knowing_prove(k) < 0)
        bail("no proof");
}

/* As it goes over the wire, the head and what it has of body. */
static size_t seal_both(struct seal *seal,
                        const struct link_head *h,
                        const uint8_t *body,
                        uint8_t bytes[])
{
    size_t len = LINK_HEAD - TAG_BYTES;
    uint32_t tail = link_head_tail(h, secret.encrypt ? TAG_BYTES : 0);

    link_head_encode(bytes, h, secret.encrypt ? TAG_BYTES : 0);
    if (seal_put(seal, bytes, len, NULL, 0, bytes + len) < 0)
        bail("no seal");
    if (h->size == 0)
        return LINK_HEAD;
    memcpy(bytes + LINK_HEAD, body, h->size);
    if (tail
        && seal_put(seal, NULL, 0, bytes + LINK_HEAD, h->size,
                    bytes + LINK_HEAD + h->size)
               < 0)
        bail("no seal");
    return LINK_HEAD + h->size + tail;
}

static size_t seal_head(struct seal *seal,
                        const struct link_head *h,
                        uint8_t bytes[])
{
    return seal_both(seal, h, content + h->chunk, bytes);
}

static void test_strangers(void)
{
    static const struct {
        const char *name, *bytes, *why;
        size_t len;
    } strangers[] = {
        {"a web browser", "GET / HTTP/1.0\r\n\r\n", babble, 18},
        {"a pull before the handshake",
         "EVS2\1\22\0\0\0\0\0\24aaaabbbbccccdddddddd", foreign, 32},
        {"an empty hello", "EVS2\0\1\0\0\0\0\0\0", foreign, 12},
        {"a hello of 4 GiB", "EVS2\0\1\0\0\377\377\377\377", babble, 12},
    };
    int fd;

    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        fresh();
        fd = stranger_connect();
        put(fd, strangers[i].bytes, strangers[i].len);
        until(guest.closed);
        ok(guest.closed == 1 && !guest.opened && guest.taken == 0
               && strcmp(guest.why, strangers[i].why) == 0,
           "%s is dropped", strangers[i].name);
        close(fd);
    }
    fresh();
    fd = stranger_connect();
    close(fd);
    until(guest.closed);
    is_str(guest.why, "the other end hung up in the handshake",
           "one who goes before the handshake is heard to go");
    fresh();
    fd = stranger_connect();
    put(fd, "EVS2", 4);
    until(guest.closed);
    is_str(guest.why, "no answer within 5 s",
           "one who says no more is dropped");
    close(fd);
}

static void test_byte_by_byte(void)
{
    static const struct link_head chunk = {
        .type = LINK_CHUNK, .chunk = 5, .size = 3};
    static const struct link_head pull = {.type = LINK_PULL, .broadcast = 1};
    uint8_t bytes[2 * LINK_HEAD + 3 + TAG_BYTES];
    struct knowing k;
    size_t first, all;
    int early = 0;

    fresh();
    knowing_connect(&k);
    first = seal_head(k.out, &chunk, bytes);
    all = first + seal_head(k.out, &pull, bytes + first);
    for (size_t i = 0; i < all; i++) {
        early |= guest.taken > (i >= first);
        put(k.fd, bytes + i, 1);
        turn(2);
    }
    until(guest.taken == 2);
    ok(guest.taken == 2 && !early && !guest.garbled
           && guest.head.type == LINK_PULL,
       "what comes byte by byte arrives whole, and not before");
    (void)seal_head(k.out, &chunk, bytes);
    put(k.fd, bytes, LINK_HEAD + 2);
    until(guest.placed == 2);
    knowing_end(&k);
    until(guest.closed);
    ok(guest.taken == 2 && guest.closed == 1 && strcmp(guest.why, gone) == 0,
       "of half a chunk nothing is taken");
}

/* Half of a chunk has come when its place is needed for other things. */
static void test_forgotten(void)
{
    static const struct link_head chunk = {
        .type = LINK_CHUNK, .chunk = 5, .size = 1000};
    static const struct link_head later = {
        .type = LINK_CHUNK, .broadcast = 1, .chunk = 7, .size = 1000};
    uint8_t bytes[LINK_HEAD + 1000 + TAG_BYTES], before[1000];
    struct knowing k;
    size_t n;

    fresh();
    knowing_connect(&k);
    n = seal_head(k.out, &chunk, bytes);
    put(k.fd, bytes, LINK_HEAD + 500);
    until(guest.placed == 1);
    turn(4);
    ok(link_is_taking(guest.link, 5) && !link_is_taking(guest.link, 6),
       "who asks is told which chunk is read to its place");
    link_forget_place(guest.link);
    ok(!link_is_taking(guest.link, 5), "until that is forgotten");
    memset(guest.place, 0xaa, 1000);
    memcpy(before, guest.place, 1000);
    guest.place = NULL;
    put(k.fd, bytes + LINK_HEAD + 500, n - LINK_HEAD - 500);
    until(guest.taken == 1);
    guest.place = room + 2u * CHUNK;
    ok(guest.taken == 1 && !guest.garbled
           && memcmp(guest.place, before, 1000) == 0,
       "then the rest of it is thrown away");
    link_forget_place(guest.link);
    put(k.fd, bytes, seal_head(k.out, &later, bytes));
    until(guest.taken == 2);
    ok(guest.taken == 2 && !guest.garbled && guest.closed == 0
           && memcmp(guest.place, content + 7, 1000) == 0,
       "and the next one comes to its own");
    knowing_end(&k);
}

/* Much at once, so that one read ends anywhere in it. */
static void test_at_once(void)
{
    enum { MESSAGES = 200, EACH = LINK_HEAD + 1000 + TAG_BYTES };
    uint8_t *bytes = malloc((size_t)MESSAGES * EACH);
    struct link_head shorter = {.type = LINK_PULL};
    struct knowing k;
    size_t len = 0;

    if (!bytes)
        bail("no memory");
    fresh();
    knowing_connect(&k);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        struct link_head h = {
            .type = LINK_CHUNK, .broadcast = i, .chunk = i, .size = 1000};

        len += seal_head(k.out, &h, bytes + len);
    }
    put(k.fd, bytes, len);
    knowing_end(&k);
    until(guest.closed);
    ok(guest.taken == MESSAGES && !guest.garbled && !guest.disorder,
       "what was sent before the end is heard before the end");
    fresh();
    knowing_connect(&k);
    link_head_encode(bytes, &shorter, 0);
    put_u32(bytes + 8, LINK_HEAD - MESSAGE_HEAD - 1);
    len = LINK_HEAD - TAG_BYTES;
    if (seal_put(k.out, bytes, len, NULL, 0, bytes + len) < 0)
        bail("no seal");
    put(k.fd, bytes, LINK_HEAD);
    until(guest.closed);
    ok(guest.opened && guest.taken == 0 && strcmp(guest.why, babble) == 0,
       "a wrong length is refused from a friend, too");
    knowing_end(&k);
    free(bytes);
}

/* --- somebody stands between the two -------------------------------------- */

static void test_changed(void)
{
    static const struct link_head h = {
        .type = LINK_CHUNK, .chunk = 5, .size = 100};
    static const char changed[] = "a message was changed on its way";
    uint8_t bytes[LINK_HEAD + 100 + TAG_BYTES];
    int taken = 0, heard = 0, placed = 0;
    struct knowing k;

    for (size_t bit = 0; bit < 8 * LINK_HEAD; bit += 3) {
        fresh();
        knowing_connect(&k);
        (void)seal_head(k.out, &h, bytes);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        put(k.fd, bytes, LINK_HEAD + 100);
        until(guest.closed);
        taken += guest.taken;
        placed += guest.placed;
        heard += strcmp(guest.why, changed) != 0;
        knowing_end(&k);
    }
    ok(taken == 0 && placed == 0 && heard == 0,
       "a head with a changed bit ends the link before anything is done");
    fresh();
    knowing_connect(&k);
    (void)seal_head(k.out, &h, bytes);
    put(k.fd, bytes, LINK_HEAD + 100);
    put(k.fd, bytes, LINK_HEAD + 100);
    until(guest.closed);
    ok(guest.taken == 1 && strcmp(guest.why, changed) == 0,
       "and so does one that comes twice");
    knowing_end(&k);
}

/* --- compressed ----------------------------------------------------------- */

#define SOFT        (CHUNK + 1000) /* from here on it gets smaller */
#define PACKED_ROOM 20000u

static void test_packed(enum pack pack)
{
    struct packing *to = packing_create(pack, 2 * CHUNK, CHUNK);
    struct packing *from = packing_create(PACK_NONE, 2 * CHUNK, CHUNK);
    uint64_t before;

    if (!to || !from)
        bail("no memory");
    open_both();
    link_set_packing(caller.link, to);
    link_set_packing(guest.link, from);
    before = link_bytes_sent(caller.link);
    send_next(&caller, LINK_CHUNK, SOFT, 500000);
    send_next(&caller, LINK_CHUNK, 7, 1000);
    send_next(&caller, LINK_PULL, 9, 0);
    until(guest.taken == 3);
    ok(guest.taken == 3 && !guest.garbled && !guest.disorder
           && guest.head.bytes == UINT64_C(0x0123456789abcdef) + 9
           && link_bytes_sent(caller.link) - before < 300000,
       "%s: what gets smaller is sent smaller, and arrives as it was",
       pack_name(pack));
    guest.to_send[0] =
        (struct link_head){.type = LINK_CHUNK, .chunk = SOFT, .size = 500000};
    before = link_bytes_sent(guest.link);
    guest.sends = 1;
    link_wake(guest.link);
    until(caller.taken == 1);
    ok(caller.taken == 1 && !caller.garbled
           && link_bytes_sent(guest.link) - before < 300000,
       "it goes on as it came, and only that");
    guest.place = NULL;
    send_next(&caller, LINK_CHUNK, SOFT, 500000);
    until(guest.taken == 4);
    ok(guest.taken == 4 && !guest.closed, "without a place it is thrown away");
    finish();
    packing_destroy(to);
    packing_destroy(from);
}

/* As compressed bytes travel: n bytes of wire, or with a bit of them changed. */
static void say_packed(const struct link_head *h,
                       const uint8_t *body,
                       size_t changed)
{
    static uint8_t wire[LINK_HEAD + PACKED_ROOM + TAG_BYTES];
    struct packing *from = packing_create(PACK_NONE, 2 * CHUNK, CHUNK);
    struct knowing k;
    size_t n;

    if (!from)
        bail("no memory");
    fresh();
    knowing_connect(&k);
    link_set_packing(guest.link, from);
    n = seal_both(k.out, h, body, wire);
    if (changed > 0)
        wire[LINK_HEAD + changed % (n - LINK_HEAD)] ^= 4;
    put(k.fd, wire, n);
    until(guest.closed || guest.taken);
    knowing_end(&k);
    until(guest.closed);
    packing_destroy(from);
}

/* Nobody is asked for a place before the bytes are known to be the sender's, and
 * it is there that they are opened. */
static void test_packed_changed(enum pack pack, uint32_t flag)
{
    struct packing *to = packing_create(pack, 2 * CHUNK, CHUNK);
    struct link_head h = {
        .type = LINK_CHUNK, .chunk = SOFT, .flags = flag, .bytes = PACKED_ROOM};
    struct packed p;
    int placed = 0, unheard = 0;

    if (!to)
        bail("no memory");
    p = packing_make(to, SOFT, content + SOFT, PACKED_ROOM);
    h.size = p.size;
    say_packed(&h, p.bytes, 0);
    ok(p.how == pack && guest.taken == 1 && !guest.garbled && !guest.changed,
       "%s: compressed bytes and their tag are opened", pack_name(pack));
    for (size_t at = 1; at < p.size + TAG_BYTES; at += 1 + p.size / 50) {
        say_packed(&h, p.bytes, at);
        placed += guest.placed + guest.taken;
        unheard += !guest.changed || !strstr(guest.why, "changed");
    }
    ok(placed == 0 && unheard == 0,
       "with a changed bit they end the link, and are not opened");
    finish();
    packing_destroy(to);
}

/* One who knows the secret sends what he says is compressed. */
static void test_badly_packed(const char *name,
                              uint32_t flags,
                              uint64_t bytes,
                              int without)
{
    struct packing *from = packing_create(PACK_NONE, 2 * CHUNK, CHUNK);
    struct link_head h = {.type = LINK_CHUNK,
                          .chunk = 5,
                          .flags = flags,
                          .bytes = bytes,
                          .size = 100};
    uint8_t wire[LINK_HEAD + 100 + TAG_BYTES];
    struct knowing k;

    if (!from)
        bail("no memory");
    fresh();
    knowing_connect(&k);
    link_set_packing(guest.link, without ? NULL : from);
    link_set_chunk(guest.link, CHUNK);
    put(k.fd, wire, seal_head(k.out, &h, wire));
    until(guest.closed);
    ok(guest.closed == 1 && guest.taken == 0 && strcmp(guest.why, babble) == 0
           && !guest.changed,
       "%s ends the link, and is not taken", name);
    knowing_end(&k);
    finish();
    packing_destroy(from);
}

static void test_all_packed(void)
{
    test_packed(PACK_LZ4);
    test_packed(PACK_ZSTD);
    test_packed_changed(PACK_LZ4, LINK_LZ4);
    test_packed_changed(PACK_ZSTD, LINK_ZSTD);
    test_badly_packed("what is not LZ4", LINK_LZ4, 1000, 0);
    test_badly_packed("what is not Zstandard", LINK_ZSTD, 1000, 0);
    test_badly_packed("both", LINK_LZ4 | LINK_ZSTD, 1000, 0);
    test_badly_packed("a chunk that gets larger", LINK_LZ4, 99, 0);
    test_badly_packed("more than a chunk may be", LINK_LZ4, CHUNK + 1, 0);
    test_badly_packed("what nobody has asked for", LINK_LZ4, 1000, 1);
}

/* Everything again, encrypted. */
static void test_encrypted(void)
{
    static const struct link_head h = {
        .type = LINK_CHUNK, .chunk = 5, .size = 100};
    uint8_t bytes[LINK_HEAD + 100 + TAG_BYTES];
    struct knowing k;

    secret.encrypt = 1;
    test_shrunk();
    test_parts();
    test_messages();
    test_byte_by_byte();
    test_forgotten();
    test_at_once();
    test_destroy();
    test_packed(PACK_ZSTD);
    test_packed_changed(PACK_LZ4, LINK_LZ4);
    fresh();
    knowing_connect(&k);
    (void)seal_head(k.out, &h, bytes);
    ok(memcmp(bytes + LINK_HEAD, content + 5, 100) != 0,
       "encrypted bytes are not the file's");
    bytes[LINK_HEAD + 50] ^= 1;
    put(k.fd, bytes, sizeof bytes);
    until(guest.closed);
    ok(guest.taken == 0 && strstr(guest.why, "changed"),
       "one that is changed ends the link, and is not taken");
    knowing_end(&k);
    secret.encrypt = 0;
}

/* --- memory --------------------------------------------------------------- */

static void test_memory(void)
{
    struct sockaddr_in in;
    long n = 0;

    for (; !caller.link && n < 20; n++) {
        fresh();
        in = address();
        fault_at = n;
        caller.link = link_call(base, (struct sockaddr *)&in, sizeof in,
                                &secret, &parties, &events, &caller);
        fault_at = -1;
    }
    ok(caller.link && n > 3, "without memory there is no link, nor a leak");
}

static void make_file(void)
{
    FILE *fp = tmpfile();
    uint32_t x = 1;

    content = malloc(2u * CHUNK);
    room = malloc(4u * CHUNK);
    if (!fp || !content || !room)
        bail("no file");
    for (size_t i = 0; i < 2u * CHUNK; i++) /* the second half of few kinds */
        content[i] = (uint8_t)((x = x * 1664525u + 1013904223u)
                               >> (i < CHUNK ? 24 : 30));
    if (fwrite(content, 1, 2u * CHUNK, fp) != 2u * CHUNK || fflush(fp) != 0)
        bail("cannot write");
    file = dup(fileno(fp));
    fclose(fp);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* as the programs do */
    event_set_mem_functions(__wrap_malloc, __wrap_realloc, free);
    if (secret_make(&secret) < 0 || secret_make(&other) < 0)
        bail("no secret");
    make_file();
    test_heads();
    test_packed_head();
    test_messages();
    test_count();
    test_bare();
    test_parts();
    test_hold();
    test_bounds();
    test_wrong_secret();
    test_destroy();
    test_nobody();
    test_strangers();
    test_byte_by_byte();
    test_forgotten();
    test_at_once();
    test_changed();
    test_all_packed();
    test_encrypted();
    test_memory();
    finish();
    close(file);
    free(content);
    free(room);
    return done();
}
