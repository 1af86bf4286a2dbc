/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two links of this process over loopback, with lanes beside them over a
 * stand-in for libfabric: what goes wrong there must not be seen by their
 * owners.
 */
#include "fake_fabric.h"
#include "loop.h"
#include "pmix_bcast/link.h"
#include "tap.h"

#include <netinet/in.h>
#include <stdio.h>

#define CHUNK  10000u
#define CHUNKS 100

struct end {
    struct link *link;
    int opened, closed, taken, sent, by_fabric, garbled, harm;
    int to_send, next;
    uint8_t place[CHUNK];
    struct fabric *fabric;
    int fabric_ended, has_place;
};

static struct event *tick;
static struct listener *listener;
static struct secret secret;
static int packs; /* chunks travel compressed */
static struct packing *packing[2];
static struct end caller, guest;
static int file;
static uint8_t content[CHUNK + CHUNKS];

static void on_opened(struct link *l, void *arg)
{
    struct end *e = arg;

    e->opened++;
    link_wake(l);
}

static uint8_t *on_place(struct link *l, void *arg, const struct link_head *h)
{
    struct end *e = arg;

    (void)l;
    e->garbled |= h->type != LINK_CHUNK || h->size != CHUNK;
    return e->has_place ? e->place : NULL;
}

/* In order, but for what came again over the link. */
static int on_taken(struct link *l,
                    void *arg,
                    const struct link_head *h,
                    const uint8_t *bytes)
{
    struct end *e = arg;

    (void)l;
    if (h->type != LINK_CHUNK) {
        e->garbled |= h->type != LINK_PULL;
        return 0;
    }
    if (bytes && memcmp(bytes, content + h->chunk, CHUNK) != 0) {
        e->harm++;
        e->garbled |= !(h->flags & LINK_BY_FABRIC);
        return -1;
    }
    e->garbled |= h->chunk != (uint32_t)e->taken || !bytes != !e->has_place
                  || h->bytes != (packs ? 0 : 7u * h->chunk);
    e->taken++;
    e->by_fabric += (h->flags & LINK_BY_FABRIC) != 0;
    return 0;
}

/* A chunk's number is where it begins in the file. */
static int on_next(
    struct link *l, void *arg, struct link_head *h, int *fd, off_t *at)
{
    struct end *e = arg;

    (void)l;
    if (e->next >= e->to_send)
        return 0;
    *h = (struct link_head){.type = e->next < 0 ? LINK_PULL : LINK_CHUNK,
                            .chunk = (uint32_t)e->next,
                            .size = e->next < 0 ? 0 : CHUNK,
                            .bytes = 7u * (uint32_t)e->next};
    *fd = file;
    *at = e->next;
    e->next++;
    return 1;
}

static void on_sent(struct link *l, void *arg, const struct link_head *h)
{
    struct end *e = arg;

    (void)l;
    e->garbled |= h->type == LINK_CHUNK && h->chunk != (uint32_t)e->sent;
    e->sent += h->type == LINK_CHUNK;
}

static void on_closed(struct link *l, void *arg, const char *why)
{
    struct end *e = arg;

    (void)l;
    (void)why;
    e->closed++;
    e->link = NULL;
}

static const struct link_events events = {
    .opened = on_opened,
    .place = on_place,
    .taken = on_taken,
    .next = on_next,
    .sent = on_sent,
    .closed = on_closed,
};

static void on_fabric(void *arg)
{
    struct end *e = arg;

    e->fabric_ended++;
}

static void on_called(void *arg, struct listener *l, int fd)
{
    (void)arg;
    guest.link = link_take(base, fd, l, &events, &guest);
    if (guest.link)
        link_set_chunk(guest.link, CHUNK);
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
    fabric_close(caller.fabric);
    fabric_close(guest.fabric);
    memset(&caller, 0, sizeof caller);
    memset(&guest, 0, sizeof guest);
    guest.has_place = caller.has_place = 1;
    memset(&fake, 0, sizeof fake);
    for (int i = 0; i < 2; i++) {
        packing_destroy(packing[i]);
        packing[i] = NULL;
    }
    listener_close(listener);
    listener = NULL;
    if (tick)
        event_free(tick);
    if (base)
        event_base_free(base);
    tick = NULL;
    base = NULL;
}

static void open_fabric(struct end *e)
{
    e->fabric = fabric_open(base, TRANSPORT_OFI, NULL, on_fabric, e);
    if (!e->fabric)
        bail("no thread");
}

static void call(void)
{
    static const struct parties parties = {PURPOSE_MESH, 7, 9};
    struct sockaddr_in in = {.sin_family = AF_INET};

    in.sin_port = htons(listener_port(listener));
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    caller.link = link_call(base, (struct sockaddr *)&in, sizeof in, &secret,
                            &parties, &events, &caller);
    if (!caller.link)
        bail("no link");
    link_set_chunk(caller.link, CHUNK);
    until(caller.opened && guest.opened);
    for (int i = 0; packs && i < 2; i++) {
        packing[i] =
            packing_create(i ? PACK_NONE : PACK_LZ4, CHUNK + CHUNKS, CHUNK);
        if (!packing[i])
            bail("no memory");
        link_set_packing(i ? guest.link : caller.link, packing[i]);
    }
}

/* Both ends, opened; what was set in fake before is lost. */
static void fresh(void)
{
    struct timeval often = {0, 5000};
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
    call();
}

static void open_fabrics(void)
{
    open_fabric(&caller);
    until(caller.fabric_ended);
    open_fabric(&guest);
    until(guest.fabric_ended);
}

/* A caller says who it is before all else. */
static void add_lanes(void)
{
    caller.next = -1;
    link_wake(caller.link);
    until(caller.next == 0);
    link_set_fabric(caller.link, caller.fabric, 1);
    link_set_fabric(guest.link, guest.fabric, 1);
    for (int i = 0; i < 20; i++) /* they meet: nothing else shows it */
        event_base_loop(base, EVLOOP_ONCE);
}

static void send_all(struct end *from, const struct end *to)
{
    from->to_send = CHUNKS;
    link_wake(from->link);
    until(to->taken == CHUNKS || from->closed || to->closed);
}

static int went_well(const struct end *from, const struct end *to)
{
    if (from->closed || to->closed || from->garbled || to->garbled
        || to->taken != CHUNKS || from->sent != CHUNKS)
        printf("# closed %d %d garbled %d %d taken %d sent %d by fabric %d\n",
               from->closed, to->closed, from->garbled, to->garbled, to->taken,
               from->sent, to->by_fabric);
    return !from->closed && !to->closed && !from->garbled && !to->garbled
           && to->taken == CHUNKS && from->sent == CHUNKS;
}

static void test_all_well(void)
{
    for (unsigned i = 0; i < 4; i++) {
        secret.encrypt = i % 2;
        fresh();
        fake.no_descriptor = i >= 2;
        open_fabrics();
        add_lanes();
        send_all(&caller, &guest);
        ok(went_well(&caller, &guest) && guest.by_fabric == CHUNKS
               && fabric_bytes(caller.fabric) >= CHUNKS * CHUNK
               && !fabric_why(caller.fabric)[0],
           "all chunks go by the fabric, in order%s%s",
           i % 2 ? ", encrypted" : "", i >= 2 ? ", by a timer" : "");
        send_all(&guest, &caller);
        ok(went_well(&guest, &caller) && caller.by_fabric == CHUNKS,
           "and back");
    }
    secret.encrypt = 0;
}

/* What is opened is what was sent. */
static void test_packed(void)
{
    packs = 1;
    for (unsigned i = 0; i < 4; i++) {
        secret.encrypt = i % 2;
        fresh();
        open_fabrics();
        add_lanes();
        fake.harm = i < 2 ? 0 : 20;
        send_all(&caller, &guest);
        ok(went_well(&caller, &guest) && guest.harm == 0
               && (guest.by_fabric == CHUNKS) == (i < 2)
               && fabric_bytes(caller.fabric) < CHUNKS * CHUNK / 2,
           "compressed chunks go by the fabric%s%s",
           i < 2 ? "" : ", one that is changed by TCP",
           i % 2 ? ", encrypted" : "");
    }
    secret.encrypt = 0;
    packs = 0;
}

static void test_thrown_away(void)
{
    for (secret.encrypt = 0; secret.encrypt < 2; secret.encrypt++) {
        fresh();
        open_fabrics();
        add_lanes();
        guest.has_place = 0;
        send_all(&caller, &guest);
        ok(went_well(&caller, &guest) && guest.by_fabric == CHUNKS,
           "what nobody wants is thrown away%s",
           secret.encrypt ? ", encrypted" : "");
    }
    secret.encrypt = 0;
}

/* One thing goes wrong; those before and after it are all there. */
static void test_faults(const char *what, unsigned *fault, const char *why)
{
    for (unsigned i = 0; i < 6; i++) {
        unsigned at = 1 + i / 2 * 20;

        secret.encrypt = i % 2;
        fresh();
        open_fabrics();
        add_lanes();
        *fault = at;
        send_all(&caller, &guest);
        ok(went_well(&caller, &guest) && guest.by_fabric < CHUNKS
               && strstr(fabric_why(caller.fabric), why),
           "%s: chunk %u and all others come by TCP%s", what, at,
           i % 2 ? ", encrypted" : "");
        if (!strstr(fabric_why(caller.fabric), why))
            printf("# %s\n", fabric_why(caller.fabric));
    }
    secret.encrypt = 0;
}

static void test_later(void)
{
    fresh();
    open_fabrics();
    add_lanes();
    fake.again = 50;
    send_all(&caller, &guest);
    ok(went_well(&caller, &guest) && guest.by_fabric == CHUNKS
           && !fabric_why(caller.fabric)[0],
       "what the fabric does not take yet is written later");
}

/* A broadcast that ends before it is open. */
static void test_not_in_time(void)
{
    fresh();
    open_fabric(&caller);
    ok(strcmp(fabric_why(caller.fabric), "libfabric was not there in time")
           == 0,
       "while it is being opened: that is why data goes by TCP");
    until(caller.fabric_ended);
    ok(!fabric_why(caller.fabric)[0], "then there is no reason");
}

/* Why there is no fabric, and all goes by TCP. */
static void test_none(int *fault, const char *why)
{
    fresh();
    *fault = 1;
    open_fabrics();
    add_lanes();
    send_all(&caller, &guest);
    ok(went_well(&caller, &guest) && guest.by_fabric == 0
           && strstr(fabric_why(caller.fabric), why),
       "\"%s\": all goes by TCP", why);
    if (!strstr(fabric_why(caller.fabric), why))
        printf("# %s\n", fabric_why(caller.fabric));
}

static void test_one_end(void)
{
    fresh();
    open_fabric(&caller);
    until(caller.fabric_ended);
    add_lanes();
    send_all(&caller, &guest);
    ok(went_well(&caller, &guest) && guest.by_fabric == 0,
       "with a fabric at one end only all goes by TCP");
    fresh();
    open_fabrics();
    caller.next = -1;
    link_set_fabric(caller.link, caller.fabric, 0);
    link_set_fabric(guest.link, guest.fabric, 1);
    link_wake(caller.link);
    send_all(&caller, &guest);
    send_all(&guest, &caller);
    ok(went_well(&guest, &caller) && caller.by_fabric == 0
           && guest.by_fabric > 0,
       "an end that takes nothing by it gets all by TCP, and sends by it");
}

static void test_ends_early(void)
{
    fresh();
    open_fabrics();
    add_lanes();
    fake.lose = 3;
    caller.to_send = CHUNKS;
    link_wake(caller.link);
    until(guest.taken == 2);
    link_destroy(caller.link);
    caller.link = NULL;
    until(guest.closed);
    fabric_close(caller.fabric);
    fabric_close(guest.fabric);
    caller.fabric = guest.fabric = NULL;
    is_int(fake.writers, 0,
           "a link that ends with a write under way leaves "
           "nothing open");
    fresh();
    open_fabric(&caller);
    fabric_close(caller.fabric);
    caller.fabric = NULL;
    is_int(fake.writers, 0, "nor one that is closed as it opens");
}

int main(void)
{
    FILE *f = tmpfile();

    if (!f || secret_make(&secret) < 0)
        bail("no file");
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (uint8_t)(i * i / 7 + i);
    file = fileno(f);
    if (write(file, content, sizeof content) != (ssize_t)sizeof content)
        bail("no room");
    test_all_well();
    test_packed();
    test_thrown_away();
    test_faults("a write that is refused", &fake.fail_post, "it broke");
    test_faults("a write that fails", &fake.fail, "it broke");
    test_faults("a write that brings something else", &fake.harm,
                "is not what arrived");
    test_faults("a write that never arrives", &fake.lose, "does not arrive");
    test_later();
    test_not_in_time();
    test_none(&fake.is_absent, "it is not there");
    test_none(&fake.no_provider, "no provider");
    test_none(&fake.no_endpoint, "no endpoint");
    test_none(&fake.no_memory, "registered");
    test_none(&fake.no_address, "address");
    test_one_end();
    test_ends_early();
    finish();
    fclose(f);
    done();
}
