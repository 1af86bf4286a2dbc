/* SPDX-License-Identifier: BSD-2-Clause */
/* Work beside the event loop, whose end the loop hears. */
#include "launcher/base/aside.h"
#include "fault.h"
#include "tap.h"

#include <event2/event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

struct job {
    struct event_base *base;
    pthread_t loop;
    int fd[2]; /* the work waits for a byte */
    int worked, done, in_loop, blocked;
};

static void work(void *arg)
{
    struct job *j = arg;
    sigset_t mask;
    char byte;

    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    j->blocked = sigismember(&mask, SIGINT) && sigismember(&mask, SIGTERM);
    j->in_loop = pthread_equal(pthread_self(), j->loop) != 0;
    j->worked = read(j->fd[0], &byte, 1) == 1;
}

static void on_done(void *arg)
{
    struct job *j = arg;

    j->done += j->worked;
    event_base_loopbreak(j->base);
}

static void start(struct job *j)
{
    *j = (struct job){.base = event_base_new(), .loop = pthread_self()};
    if (!j->base || pipe(j->fd) < 0)
        bail("no pipe");
}

static void clear(struct job *j)
{
    close(j->fd[0]);
    close(j->fd[1]);
    event_base_free(j->base);
}

static void let_work(const struct job *j)
{
    if (write(j->fd[1], "x", 1) != 1)
        bail("the pipe is full");
}

static void test_done(void)
{
    struct timeval limit = {20, 0};
    struct aside *a;
    struct job j;

    start(&j);
    a = aside_start(j.base, work, on_done, &j);
    ok(a != NULL, "work is begun");
    event_base_loop(j.base, EVLOOP_NONBLOCK);
    is_int(j.done, 0, "the loop goes on while it works");
    let_work(&j);
    event_base_loopexit(j.base, &limit);
    event_base_dispatch(j.base);
    is_int(j.done, 1, "and hears of its end, when all is done");
    ok(!j.in_loop && j.blocked, "it has a thread, which gets no signals");
    aside_destroy(a);
    event_base_loop(j.base, EVLOOP_NONBLOCK);
    is_int(j.done, 1, "its end is told once");
    clear(&j);
}

static void test_destroyed(void)
{
    struct aside *a;
    struct job j;

    start(&j);
    a = aside_start(j.base, work, on_done, &j);
    let_work(&j);
    aside_destroy(a);
    ok(j.worked, "work that is not wanted any more is waited for");
    event_base_loop(j.base, EVLOOP_NONBLOCK);
    is_int(j.done, 0, "but its end not told");
    aside_destroy(NULL);
    clear(&j);
}

static void test_no_memory(void)
{
    struct aside *a;
    struct job j;

    start(&j);
    fault_at = 0;
    a = aside_start(j.base, work, on_done, &j);
    fault_at = -1;
    ok(!a && errno == ENOMEM && !j.worked, "without memory none is begun");
    clear(&j);
}

int main(void)
{
    test_done();
    test_destroyed();
    test_no_memory();
    return done();
}
