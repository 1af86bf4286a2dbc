/* SPDX-License-Identifier: BSD-2-Clause */
/* Two agents' rings in one event loop, over the loopback. */
#include "launcher/agent/agent_ring.h"
#include "tap.h"

#include <event2/event.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static struct event_base *base;
static struct secret secret;
static double heard[2];
static int left, scanner;

static void on_heard(void *arg, double received_per_s)
{
    *(double *)arg = received_per_s;
    if (--left == 0)
        event_base_loopbreak(base);
}

/* A round of both: to[i] is where i sends to. */
static void run(struct agent_ring *ring[2], const struct endpoint *to[2])
{
    left = 2;
    heard[0] = heard[1] = -1;
    for (int i = 0; i < 2; i++)
        is_int(agent_ring_round(ring[i], to[i], 1 - (uint32_t)i, 200, on_heard,
                                &heard[i]),
               0, "a round begins");
    event_base_dispatch(base);
}

static struct agent_ring *open_one(const struct secret *s,
                                   uint32_t self,
                                   struct endpoint *e)
{
    struct listen_at here = {0};
    struct agent_ring *r;

    listen_at_add(&here, "127.0.0.1");
    r = agent_ring_open(base, s, self, (struct port_range){0, 0}, &here);
    if (!r)
        bail("no ring");
    *e = (struct endpoint){
        .node = "here", .address = "127.0.0.1", .port = agent_ring_port(r)};
    return r;
}

/* Who connects, and proves nothing, in the middle of a round. */
static void on_scan(int fd, short what, void *arg)
{
    const struct endpoint *to = arg;
    struct sockaddr_in in = {.sin_family = AF_INET};

    (void)fd;
    (void)what;
    in.sin_port = htons(to->port);
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    scanner = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (scanner < 0 || connect(scanner, (struct sockaddr *)&in, sizeof in) < 0)
        bail("cannot connect");
}

static void test_scanned(struct agent_ring *ring[2], struct endpoint at[2])
{
    struct timeval middle = {0, 100000};
    struct event *scan = evtimer_new(base, on_scan, &at[1]);

    if (!scan || event_add(scan, &middle) < 0)
        bail("no event");
    run(ring, (const struct endpoint *[]){&at[1], NULL});
    ok(scanner > 0 && heard[1] > 0,
       "a port scanner does not take the sender's place");
    event_free(scan);
    close(scanner);
}

int main(void)
{
    struct agent_ring *ring[2], *stranger;
    struct endpoint at[2], elsewhere,
        nobody = {.node = "none", .address = "127.0.0.1", .port = 1};
    struct secret other;

    signal(SIGPIPE, SIG_IGN); /* as the programs do */
    base = event_base_new();
    if (!base || secret_make(&secret) < 0 || secret_make(&other) < 0)
        bail("no event loop, or no secret");
    for (int i = 0; i < 2; i++)
        ring[i] = open_one(&secret, (uint32_t)i, &at[i]);
    run(ring, (const struct endpoint *[]){&at[1], &at[0]});
    ok(heard[0] > 0 && heard[1] > 0, "both receive, at once");
    run(ring, (const struct endpoint *[]){&at[1], NULL});
    ok(heard[1] > 0, "one that only receives hears its sender");
    is_near(heard[0], 0, 0, "one that nobody sends to has nothing");
    run(ring, (const struct endpoint *[]){&nobody, NULL});
    ok(heard[0] + heard[1] == 0, "a receiver that is not there is no error");
    left = 1;
    is_int(agent_ring_round(ring[0], NULL, 1, 50, on_heard, &heard[0]), 0,
           "a round is under way");
    is_int(agent_ring_round(ring[0], NULL, 1, 50, on_heard, &heard[0]), -1,
           "and so another is refused");
    event_base_dispatch(base);
    stranger = open_one(&other, 0, &elsewhere);
    run((struct agent_ring *[]){stranger, ring[1]},
        (const struct endpoint *[]){&at[1], NULL});
    is_near(heard[1], 0, 0, "without the secret nobody is heard");
    agent_ring_close(stranger);
    test_scanned(ring, at);
    for (int i = 0; i < 2; i++)
        agent_ring_close(ring[i]);
    agent_ring_close(NULL);
    event_base_loop(base,
                    EVLOOP_NONBLOCK); /* libevent frees what it deferred */
    event_base_free(base);
    return done();
}
