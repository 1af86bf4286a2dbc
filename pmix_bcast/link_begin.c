/* SPDX-License-Identifier: BSD-2-Clause */
/* A link begins: who calls, who takes the call, and what its owner may set. */
#include "pmix_bcast/address.h"
#include "pmix_bcast/link_state.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define SHAKE_S   5 /* as HANDSHAKE_MS of channel.h */
#define LOWAT_MIN (16u << 10)
#define LOWAT_MAX (256u << 10)
#define DEAD_MS   10000u /* without acknowledgement: SILENCE_MS */

/* Each is an improvement, none a condition. */
static void tune(const struct link *l)
{
    int yes = 1, lowat = LOWAT_MIN;
    unsigned dead = DEAD_MS;

    (void)setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    (void)setsockopt(l->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &lowat,
                     sizeof lowat);
    (void)setsockopt(l->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead, sizeof dead);
}

void link_set_chunk(struct link *l, uint32_t bytes)
{
    int lowat = (int)(bytes < LOWAT_MIN   ? LOWAT_MIN
                      : bytes > LOWAT_MAX ? LOWAT_MAX
                                          : bytes);

    l->chunk_max = bytes;
    (void)setsockopt(l->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &lowat,
                     sizeof lowat);
}

static void connected(struct link *l)
{
    int error = 0;
    socklen_t len = sizeof error;
    uint8_t hello[HELLO_BYTES];

    if (getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        error = errno;
    if (error) {
        link_give_up(l, strerror(error));
        return;
    }
    l->stage = SHAKING;
    caller_hello(&l->handshake, hello);
    link_queue_handshake(l, MESSAGE_HELLO, hello, sizeof hello);
    (void)event_add(l->readable, NULL);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct link *l = arg;

    (void)fd;
    (void)what;
    l->busy++;
    if (l->stage == CALLING)
        connected(l);
    if (l->stage != DEAD)
        link_send(l);
    l->busy--;
    link_release(l);
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    struct link *l = arg;

    (void)fd;
    (void)what;
    l->busy++;
    link_give_up(l, "no answer within 5 s");
    l->busy--;
    link_release(l);
}

static struct link *link_create(struct event_base *base,
                                int fd,
                                const struct link_events *on,
                                void *arg)
{
    struct link *l = calloc(1, sizeof *l);
    struct timeval late = {SHAKE_S, 0};

    if (!l) {
        close(fd);
        return NULL;
    }
    l->fd = fd;
    l->on = on;
    l->arg = arg;
    l->readable =
        event_new(base, fd, EV_READ | EV_PERSIST, link_on_readable, l);
    l->writable = event_new(base, fd, EV_WRITE, on_writable, l);
    l->timer = evtimer_new(base, on_late, l);
    if (!l->readable || !l->writable || !l->timer
        || event_add(l->timer, &late) < 0) {
        link_destroy(l);
        return NULL;
    }
    tune(l);
    return l;
}

struct link *link_call(struct event_base *base,
                       const struct sockaddr *address,
                       socklen_t len,
                       const struct secret *secret,
                       const struct parties *p,
                       const struct link_events *on,
                       void *arg)
{
    int fd = socket(address->sa_family,
                    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct link *l = fd < 0 ? NULL : link_create(base, fd, on, arg);

    if (!l)
        return NULL;
    handshake_call(&l->handshake, secret, p);
    l->is_caller = 1;
    if ((connect(fd, address, len) < 0 && errno != EINPROGRESS)
        || event_add(l->writable, NULL) < 0) {
        link_destroy(l);
        return NULL;
    }
    return l;
}

static void end_unproven(struct unproven *u, const char *why)
{
    struct link *l =
        (struct link *)((char *)u - offsetof(struct link, unproven));

    l->busy++;
    link_give_up(l, why);
    l->busy--;
    link_release(l);
}

struct link *link_take(struct event_base *base,
                       int fd,
                       struct listener *listener,
                       const struct link_events *on,
                       void *arg)
{
    struct link *l = link_create(base, fd, on, arg);

    if (!l)
        return NULL;
    l->unproven.end = end_unproven;
    listener_admit(listener, &l->unproven, &l->handshake);
    l->stage = SHAKING;
    if (event_add(l->readable, NULL) < 0) {
        link_destroy(l);
        return NULL;
    }
    return l;
}

void link_set_events(struct link *l, const struct link_events *on, void *arg)
{
    int is_unready = link_take_back(l);

    l->on = on;
    l->arg = arg;
    if (is_unready)
        link_ready(l); /* without memory the next read says so */
}

void link_set_packing(struct link *l, struct packing *packing)
{
    l->packing = packing;
}

int link_hold(struct link *l, int on)
{
    l->held = on;
    if (l->is_aside) /* nothing is read here */
        return 0;
    return on ? event_del(l->readable) : event_add(l->readable, NULL);
}

int link_is_open(const struct link *l)
{
    return l->stage == OPEN;
}

int link_is_calling(const struct link *l)
{
    return l->stage == CALLING;
}

int link_here(const struct link *l, uint8_t ip[16])
{
    struct sockaddr_storage here;
    socklen_t len = sizeof here;

    return getsockname(l->fd, (struct sockaddr *)&here, &len) == 0
               ? address_bytes(ip, (const struct sockaddr *)&here)
               : -1;
}

uint32_t link_caller(const struct link *l)
{
    return l->handshake.parties.caller;
}
