/* SPDX-License-Identifier: BSD-2-Clause */
/* The open door: who is answered, who is let in, who waits, who is cut off. */
#include "pmix_bcast/mesh.h"
#include "fault.h"
#include "loop.h"
#include "tap.h"

#include <event2/event.h>
#include <netinet/in.h>
#include <signal.h>
#include <time.h>

/* One who calls, and what it hears. */
static struct caller {
    struct link *link;
    struct link_head send[4];
    int n, next, opened, closed, greeted, lacks;
} caller[2];

static struct secret secret;
static struct listener *listener;
static struct mesh *mesh;
static struct exchange *exchange;

static void on_opened(struct link *l, void *arg)
{
    struct caller *c = arg;

    (void)l;
    c->opened = 1;
}

static int on_taken(struct link *l,
                    void *arg,
                    const struct link_head *h,
                    const uint8_t *bytes)
{
    struct caller *c = arg;

    (void)l;
    (void)bytes;
    c->greeted += h->type == LINK_GREETED;
    c->lacks += h->type == LINK_LACK;
    return 0;
}

static int on_next(
    struct link *l, void *arg, struct link_head *h, int *fd, off_t *at)
{
    struct caller *c = arg;

    (void)l;
    (void)fd;
    (void)at;
    if (c->next == c->n)
        return 0;
    *h = c->send[c->next++];
    return 1;
}

static void on_closed(struct link *l, void *arg, const char *why)
{
    struct caller *c = arg;

    (void)l;
    (void)why;
    c->link = NULL;
    c->closed++;
}

static const struct link_events events = {.opened = on_opened,
                                          .taken = on_taken,
                                          .next = on_next,
                                          .closed = on_closed};

static int on_open(void *arg, uint32_t file)
{
    (void)arg;
    (void)file;
    errno = ENOENT;
    return -1;
}

static void on_fetched(void *arg,
                       uint32_t from,
                       uint32_t file,
                       int64_t elapsed_ns,
                       const char *why)
{
    (void)arg;
    (void)from;
    (void)file;
    (void)elapsed_ns;
    (void)why;
}

static void say(struct caller *c, enum link_type type, uint32_t broadcast)
{
    c->send[c->n++] =
        (struct link_head){.type = (uint16_t)type, .broadcast = broadcast};
    if (c->link)
        link_wake(c->link);
}

static void call(struct caller *c, uint32_t rank)
{
    const struct parties parties = {PURPOSE_MESH, rank, 0};
    struct sockaddr_in in = {.sin_family = AF_INET};

    in.sin_port = htons(listener_port(listener));
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->link = link_call(base, (struct sockaddr *)&in, sizeof in, &secret,
                        &parties, &events, c);
    if (!c->link)
        bail("no link");
}

static void begin(void)
{
    const struct exchange_setup x = {.base = base,
                                     .secret = &secret,
                                     .open = on_open,
                                     .fetched = on_fetched};
    struct listener_setup door = {.base = base,
                                  .secret = &secret,
                                  .purpose = PURPOSE_MESH,
                                  .loopback = 1,
                                  .called = mesh_take};

    memset(caller, 0, sizeof caller);
    mesh = door.arg = mesh_create(base);
    exchange = exchange_create(&x);
    if (!mesh || !exchange || listener_open(&listener, &door, NULL) < 0)
        bail("no door");
}

static void end(void)
{
    mesh_set_exchange(mesh, NULL);
    exchange_destroy(exchange);
    mesh_destroy(mesh);
    listener_close(listener);
    for (int i = 0; i < 2; i++)
        link_destroy(caller[i].link);
}

static void test_greet(void)
{
    begin();
    say(&caller[0], LINK_GREET, 0);
    call(&caller[0], 1);
    until(caller[0].greeted == 1);
    say(&caller[0], LINK_GREET, 0);
    until(caller[0].greeted == 2);
    ok(caller[0].greeted == 2 && caller[0].closed == 0,
       "who asks whether it is reached is answered, each time");
    end();
}

static void test_strangers(void)
{
    begin();
    say(&caller[0], LINK_PULL, EXCHANGE_ID);
    call(&caller[0], 1);
    until(caller[0].closed);
    is_int(caller[0].closed, 1, "who does not say what for is cut off");
    end();
}

static void test_wait(void)
{
    begin();
    for (uint32_t i = 0; i < 2; i++) {
        /* The other one's broadcast does not come. */
        say(&caller[i], LINK_HELLO, i == 0 ? EXCHANGE_ID : 77);
        say(&caller[i], LINK_ASK, 5);
        caller[i].send[1].bytes = 100;
        call(&caller[i], 1 + i);
    }
    until(caller[0].next == 2 && caller[1].next == 2);
    for (int i = 0; i < 100; i++) /* more than enough for it to be read */
        event_base_loop(base, EVLOOP_NONBLOCK);
    ok(caller[0].closed + caller[1].closed == 0
           && caller[0].lacks + caller[1].lacks == 0,
       "who asks for what is not there yet waits");
    mesh_set_exchange(mesh, exchange);
    until(caller[0].lacks);
    ok(caller[0].lacks == 1 && caller[0].closed == 0,
       "until it is there, and is then heard");
    ok(caller[1].lacks == 0 && caller[1].closed == 0, "the other still waits");
    mesh_destroy(mesh);
    mesh = NULL;
    until(caller[1].closed);
    ok(caller[1].closed == 1 && caller[0].closed == 0,
       "with the door it ends, and who was let in stays");
    mesh = mesh_create(base);
    end();
}

/* Whichever allocation fails: the next caller is let in. */
static void test_memory(void)
{
    int good = 1;

    for (long n = 0; n < 6; n++) {
        begin();
        say(&caller[0], LINK_GREET, 0);
        call(&caller[0], 1);
        fault_at = n;
        until(caller[0].closed || caller[0].greeted);
        fault_at = -1;
        say(&caller[1], LINK_GREET, 0);
        call(&caller[1], 2);
        until(caller[1].greeted);
        good &= caller[1].greeted == 1;
        end();
    }
    ok(good, "without memory for one the next is let in");
    mesh_destroy(NULL);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* as the programs do */
    base = event_base_new();
    if (!base || secret_make(&secret) < 0)
        bail("no event loop");
    test_greet();
    test_strangers();
    test_wait();
    test_memory();
    event_base_free(base);
    return done();
}
