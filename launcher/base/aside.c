/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/aside.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct aside {
    void (*work)(void *arg);
    void (*done)(void *arg);
    void *arg;
    struct event *ended;
    int fd; /* eventfd that says that the work is done */
    pthread_t thread;
};

static void *run_work(void *arg)
{
    const struct aside *a = arg;
    const uint64_t one = 1;

    a->work(a->arg);
    (void)!write(a->fd, &one, sizeof one); /* it cannot be full */
    return NULL;
}

static void on_ended(evutil_socket_t fd, short what, void *arg)
{
    const struct aside *a = arg;

    (void)fd;
    (void)what;
    a->done(a->arg);
}

/* The new thread blocks all signals: they are for the event loop. */
static int start_thread(struct aside *a)
{
    sigset_t all, before;
    int why;

    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    why = pthread_create(&a->thread, NULL, run_work, a);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return why;
}

static void free_aside(struct aside *a)
{
    if (a->ended)
        event_free(a->ended);
    if (a->fd >= 0)
        close(a->fd);
    free(a);
}

struct aside *aside_start(struct event_base *base,
                          void (*work)(void *arg),
                          void (*done)(void *arg),
                          void *arg)
{
    struct aside *a = calloc(1, sizeof *a);
    int why = ENOMEM;

    if (!a)
        return NULL;
    *a = (struct aside){.work = work, .done = done, .arg = arg};
    a->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (a->fd >= 0)
        a->ended = event_new(base, a->fd, EV_READ, on_ended, a);
    if (a->ended && event_add(a->ended, NULL) == 0)
        why = start_thread(a);
    if (why == 0)
        return a;
    free_aside(a);
    errno = why;
    return NULL;
}

void aside_destroy(struct aside *a)
{
    int saved = errno;

    if (!a)
        return;
    (void)pthread_join(a->thread, NULL);
    free_aside(a);
    errno = saved;
}
