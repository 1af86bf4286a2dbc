/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/offload.h"
#include "pmix_bcast/thread.h"

#include <event2/event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define CREW_MAX 4u
#define CREW_MIN 64u /* so few things are not worth a thread */

struct offload {
    int (*work)(void *arg);
    void (*ended)(void *arg, int result);
    void *arg;
    pthread_t thread;
    int bell; /* rings when work() has returned */
    struct event *event;
    int result;
    int is_running; /* the thread is still to be joined */
};

/* --- a thread ------------------------------------------------------------- */

static void *run(void *arg)
{
    struct offload *o = arg;

    o->result = o->work(o->arg);
    (void)eventfd_write(o->bell, 1);
    return NULL;
}

static void join(struct offload *o)
{
    if (o->is_running)
        (void)pthread_join(o->thread, NULL);
    o->is_running = 0;
}

static void on_bell(evutil_socket_t fd, short what, void *arg)
{
    struct offload *o = arg;

    (void)fd;
    (void)what;
    join(o);
    o->ended(o->arg, o->result);
}

struct offload *offload_start(struct event_base *base,
                              int (*work)(void *arg),
                              void (*ended)(void *arg, int result),
                              void *arg)
{
    struct offload *o = calloc(1, sizeof *o);

    if (!o)
        return NULL;
    *o = (struct offload){.work = work, .ended = ended, .arg = arg};
    o->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (o->bell >= 0)
        o->event = event_new(base, o->bell, EV_READ, on_bell, o);
    if (o->event && event_add(o->event, NULL) == 0)
        o->is_running = thread_start(&o->thread, run, o) == 0;
    if (o->is_running)
        return o;
    offload_destroy(o);
    return NULL;
}

void offload_destroy(struct offload *o)
{
    if (!o)
        return;
    join(o);
    if (o->event)
        event_free(o->event);
    if (o->bell >= 0)
        close(o->bell);
    free(o);
}

/* --- many things ---------------------------------------------------------- */

struct crew {
    int (*one)(void *arg, uint32_t i);
    void *arg;
    uint32_t n;
    atomic_uint next;
    atomic_int result;
};

static void *help(void *arg)
{
    struct crew *c = arg;
    uint32_t i;

    while (atomic_load(&c->result) == 0
           && (i = atomic_fetch_add(&c->next, 1)) < c->n) {
        int why = c->one(c->arg, i), none = 0;

        if (why)
            (void)atomic_compare_exchange_strong(&c->result, &none, why);
    }
    return NULL;
}

static uint32_t crew_size(uint32_t n)
{
    uint32_t size = thread_cpus();

    if (size > CREW_MAX)
        size = CREW_MAX;
    return n < CREW_MIN ? 1 : size;
}

int offload_each(uint32_t n, int (*one)(void *arg, uint32_t i), void *arg)
{
    struct crew c = {.one = one, .arg = arg, .n = n};
    uint32_t wish = crew_size(n), helpers = 0;
    pthread_t helper[CREW_MAX];

    while (helpers + 1 < wish && thread_start(&helper[helpers], help, &c) == 0)
        helpers++;
    (void)help(&c);
    while (helpers > 0)
        (void)pthread_join(helper[--helpers], NULL);
    return atomic_load(&c.result);
}
