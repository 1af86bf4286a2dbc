/* SPDX-License-Identifier: BSD-2-Clause */
/* Who has been accepted and not said who it is: kept, let go, ended. */
#include "pmix_bcast/pending.h"
#include "fault.h"
#include "tap.h"

#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static struct event_base *base;
static struct secret secret;
static struct listener *listener;
static struct pending_list list;
static int here, there, list_owner, closed;

static void on_called(void *arg, struct listener *l, int fd)
{
    (void)arg;
    (void)l;
    close(fd);
}

static int on_taken(struct link *l,
                    void *arg,
                    const struct link_head *h,
                    const uint8_t *bytes)
{
    (void)l;
    (void)arg;
    (void)h;
    (void)bytes;
    return -1;
}

// cppcheck-suppress constParameter ; a callback has this type
static void on_link_closed(struct link *l, void *arg, const char *why)
{
    struct pending *p = arg;

    (void)why;
    closed += p->link == l && p->owner == &list_owner;
    pending_leave(p);
}

static void on_message(struct channel *c,
                       void *arg,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len)
{
    (void)c;
    (void)arg;
    (void)type;
    (void)body;
    (void)len;
}

// cppcheck-suppress constParameter ; a callback has this type
static void on_channel_closed(struct channel *c, void *arg, const char *why)
{
    struct pending *p = arg;

    (void)why;
    closed += p->channel == c && p->owner == &list_owner;
    pending_leave(p);
}

static const struct link_events link_events = {.taken = on_taken,
                                               .closed = on_link_closed};
static const struct channel_events channel_events = {
    .message = on_message, .closed = on_channel_closed};

static void make_pair(void)
{
    int fd[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd)
        < 0)
        bail("no pair of sockets");
    here = fd[0];
    there = fd[1];
}

static int accept_link(void)
{
    make_pair();
    return pending_accept_link(&list, base, here, listener, &link_events);
}

static int accept_channel(void)
{
    make_pair();
    return pending_accept_channel(&list, base, here, listener, &channel_events);
}

static int is_closed(int fd)
{
    return fcntl(fd, F_GETFD) < 0;
}

/* Has the other end of it ended?  libevent frees in the loop's next turn. */
static int has_ended(int fd)
{
    char byte;
    ssize_t n;

    event_base_loop(base, EVLOOP_NONBLOCK);
    n = read(fd, &byte, 1);
    close(fd);
    return n == 0;
}

static const struct {
    const char *what;
    int (*accept)(void);
} kinds[] = {{"a link", accept_link}, {"a channel", accept_channel}};

static void test_closed(void)
{
    for (int i = 0; i < 2; i++) {
        const struct pending *p;

        closed = 0;
        is_int(kinds[i].accept(), 0, kinds[i].what);
        p = LIST_FIRST(&list.first);
        ok(p && p->owner == &list_owner && !p->has_said && !LIST_NEXT(p, next),
           "is in the list, with who was called");
        close(there);
        for (int turns = 0; turns < 100 && !closed; turns++)
            event_base_loop(base, EVLOOP_ONCE);
        ok(closed == 1 && LIST_EMPTY(&list.first),
           "and leaves it when it ends: it is the events' argument");
    }
}

static void test_leave(void)
{
    struct channel *c;
    struct link *l;

    (void)accept_link();
    l = LIST_FIRST(&list.first)->link;
    pending_leave(LIST_FIRST(&list.first));
    ok(LIST_EMPTY(&list.first) && !is_closed(here),
       "a link that leaves the list goes on");
    link_destroy(l);
    ok(has_ended(there), "until whoever has it ends it");
    (void)accept_channel();
    c = LIST_FIRST(&list.first)->channel;
    pending_leave(LIST_FIRST(&list.first));
    ok(LIST_EMPTY(&list.first) && !is_closed(here),
       "a channel that leaves the list goes on");
    channel_destroy(c);
    ok(has_ended(there), "until whoever has it ends it");
}

static void test_clear(void)
{
    int first, second, third;

    (void)accept_link();
    first = there;
    (void)accept_channel();
    second = there;
    (void)accept_link();
    third = there;
    pending_end(LIST_FIRST(&list.first));
    ok(has_ended(third) && !LIST_EMPTY(&list.first), "one can be ended");
    pending_clear(&list);
    ok(LIST_EMPTY(&list.first) && has_ended(first) && has_ended(second),
       "and all that are left");
    pending_clear(&list);
    ok(LIST_EMPTY(&list.first), "also if there are none");
}

static void test_memory(void)
{
    for (int i = 0; i < 2; i++) {
        int rc = -1, clean = 1;
        long n = 0;

        for (; n < 20; n++) {
            fault_at = n;
            rc = kinds[i].accept();
            fault_at = -1;
            if (rc == 0)
                break;
            clean &= LIST_EMPTY(&list.first) && is_closed(here);
            close(there);
        }
        ok(rc == 0 && n > 1 && clean,
           "%s without memory is closed, and not in the list", kinds[i].what);
        pending_clear(&list);
        close(there);
    }
}

int main(void)
{
    struct listener_setup setup = {.secret = &secret,
                                   .purpose = PURPOSE_SESSION,
                                   .self = FRONT_END,
                                   .loopback = 1,
                                   .called = on_called};

    signal(SIGPIPE, SIG_IGN);
    event_set_mem_functions(__wrap_malloc, __wrap_realloc, free);
    base = setup.base = event_base_new();
    if (!base || secret_make(&secret) < 0
        || listener_open(&listener, &setup, NULL) < 0)
        bail("no listener");
    pending_init(&list, &list_owner);
    test_closed();
    test_leave();
    test_clear();
    test_memory();
    listener_close(listener);
    event_base_free(base);
    return done();
}
