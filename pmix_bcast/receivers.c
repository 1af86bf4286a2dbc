/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each thread waits by epoll(7) for the sockets that are its own, and takes a part
 * from each in turn.  What the thread and the loop share is under its lock, which
 * is never held over a system call that takes time.
 *
 * An event names a reception that may be no more: it counts only if that is among
 * those under way.  If by then it is another at the same address there is nothing
 * to read yet, which does no harm.
 */
#include "pmix_bcast/receivers.h"
#include "pmix_bcast/clock.h"
#include "pmix_bcast/thread.h"
#include "pmix_bcast/thread_need.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

#define PART (256u << 10) /* bytes, before another socket has its turn */

enum state { IDLE, UNDER_WAY, ENDED };

LIST_HEAD(reception_list, reception);

struct cpu_use { /* of a thread */
    clockid_t clock;
    double s; /* CPU seconds up to the last look */
};

struct worker {
    struct receivers *all;
    pthread_t thread;
    int epoll;
    unsigned n_under;            /* way, how many */
    pthread_cond_t stepped;      /* nothing is busy */
    struct reception *busy;      /* the thread works on it */
    struct reception_list under; /* way */
    int is_running;
    struct cpu_use use;
};

struct receivers {
    pthread_mutex_t lock;
    struct reception_list ended; /* the loop is to hear of them */
    int bell, stop;              /* for the loop, for the threads */
    struct event *event;
    /* The loop's: threads that there may be, that there are, and of these that take
     * part, now and at most.  The others end what they were given. */
    unsigned least, most, n, used, peak;
    double looked; /* when; 0: not yet */
    struct cpu_use loop;
    struct worker worker[RECEIVERS_MAX];
};

struct reception {
    LIST_ENTRY(reception) next; /* of under way, or ended */
    struct receivers *all;
    struct worker *worker; /* of the last that was begun; or NULL */
    void (*ended)(void *arg, const struct reception_result *);
    void *arg;
    enum state state;
    struct reception_task task; /* the thread's while it is busy */
    int is_ready;
    struct reception_result result;
};

/* --- in a thread ---------------------------------------------------------- */

static int end_with(struct reception *r, enum reception_end end, int error)
{
    r->result.end = end;
    r->result.error = error;
    return 1;
}

/* 1: that was all. */
static int look_at(struct reception *r)
{
    const struct reception_task *t = &r->task;
    int is_right = !t->check || t->check(t->arg, t->to) == 0;

    return end_with(r, is_right ? RECEPTION_WHOLE : RECEPTION_WRONG, 0);
}

static int make_ready(struct reception *r)
{
    struct reception_task *t = &r->task;
    uint8_t *to = t->ready ? t->ready(t->arg, t->to) : t->to;

    r->is_ready = 1;
    if (!to)
        return end_with(r, RECEPTION_FAILED, ENOMEM);
    t->to = to;
    return 0;
}

/* One part.  1: that was all, 0: there is more to come. */
static int advance(struct reception *r)
{
    struct reception_task *t = &r->task;
    size_t left = t->size - t->got;
    ssize_t n;

    if (!r->is_ready)
        return make_ready(r);
    n = read(t->fd, t->to + t->got, left < PART ? left : PART);
    if (n == 0)
        return end_with(r, RECEPTION_CLOSED, 0);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR
                   ? 0
                   : end_with(r, RECEPTION_FAILED, errno);
    t->got += (size_t)n;
    return t->got == t->size ? look_at(r) : 0;
}

static int is_under_way(const struct worker *w, const struct reception *r)
{
    const struct reception *each;

    LIST_FOREACH(each, &w->under, next)
    if (each == r)
        return 1;
    return 0;
}

/* It is the loop's again, which is told. */
static void hand_over(struct worker *w, struct reception *r)
{
    struct receivers *all = w->all;

    (void)epoll_ctl(w->epoll, EPOLL_CTL_DEL, r->task.fd, NULL);
    LIST_REMOVE(r, next);
    w->n_under--;
    r->state = ENDED;
    if (LIST_EMPTY(&all->ended))
        (void)eventfd_write(all->bell, 1);
    LIST_INSERT_HEAD(&all->ended, r, next);
}

static void step(struct worker *w, struct reception *r)
{
    pthread_mutex_t *lock = &w->all->lock;
    int is_over;

    (void)pthread_mutex_lock(lock);
    if (!is_under_way(w, r)) {
        (void)pthread_mutex_unlock(lock);
        return;
    }
    w->busy = r;
    (void)pthread_mutex_unlock(lock);
    is_over = advance(r);
    (void)pthread_mutex_lock(lock);
    w->busy = NULL;
    if (is_over)
        hand_over(w, r);
    (void)pthread_cond_signal(&w->stepped);
    (void)pthread_mutex_unlock(lock);
}

static void *run(void *arg)
{
    struct worker *w = arg;

    for (;;) {
        struct epoll_event e;
        int n = epoll_wait(w->epoll, &e, 1, -1);

        if (n != 1) /* a signal, as a debugger sends them */
            continue;
        if (!e.data.ptr)
            return NULL;
        step(w, e.data.ptr);
    }
}

/* --- how many ------------------------------------------------------------- */

static void end_worker(struct worker *w)
{
    if (w->is_running)
        (void)pthread_join(w->thread, NULL);
    if (w->epoll >= 0)
        close(w->epoll);
    (void)pthread_cond_destroy(&w->stepped);
}

static int start_worker(struct receivers *all, struct worker *w)
{
    struct epoll_event stop = {.events = EPOLLIN, .data.ptr = NULL};

    w->all = all;
    LIST_INIT(&w->under);
    (void)pthread_cond_init(&w->stepped, NULL);
    w->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (w->epoll >= 0
        && epoll_ctl(w->epoll, EPOLL_CTL_ADD, all->stop, &stop) == 0)
        w->is_running = thread_start(&w->thread, run, w) == 0;
    if (!w->is_running) {
        end_worker(w);
        return -1;
    }
    (void)pthread_getcpuclockid(w->thread, &w->use.clock); /* cannot fail */
    return 0;
}

/* So many take part; fewer if they cannot be started, and none of these later. */
static void set_used(struct receivers *all, unsigned want)
{
    while (all->n < want && start_worker(all, &all->worker[all->n]) == 0)
        all->n++;
    if (all->n < want)
        want = all->most = all->n;
    all->least = all->least < all->most ? all->least : all->most;
    all->used = want;
    if (all->used > all->peak)
        all->peak = all->used;
}

/* CPU seconds since the last look. */
static double cpu_since(struct cpu_use *u)
{
    struct timespec t = {0};
    double before = u->s;

    (void)clock_gettime(u->clock,
                        &t); /* fails where the thread has ended only */
    u->s = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
    return u->s - before;
}

/* To be called as there is something to do. */
static void adapt(struct receivers *all)
{
    double cpu_s[1 + RECEIVERS_MAX], now, passed;
    int is_first = all->looked == 0;

    if (all->least == all->most)
        return;
    now = clock_s();
    passed = now - all->looked;
    if (passed < THREAD_NEED_LOOK_S)
        return;
    all->looked = now;
    cpu_s[0] = cpu_since(&all->loop);
    for (unsigned i = 0; i < all->n; i++)
        cpu_s[1 + i] = cpu_since(&all->worker[i].use);
    if (!is_first)
        set_used(all, thread_need(cpu_s, 1 + all->used, passed, 1 + all->least,
                                  1 + all->most)
                          - 1);
}

unsigned receivers_peak(const struct receivers *r)
{
    return 1 + (r ? r->peak : 0);
}

/* --- in the loop ---------------------------------------------------------- */

static struct reception *next_ended(struct receivers *all)
{
    struct reception *r;

    (void)pthread_mutex_lock(&all->lock);
    r = LIST_FIRST(&all->ended);
    if (r) {
        LIST_REMOVE(r, next);
        r->state = IDLE;
    }
    (void)pthread_mutex_unlock(&all->lock);
    return r;
}

static struct reception_result so_far(const struct reception *r)
{
    struct reception_result so = r->result;

    so.to = r->task.to;
    so.got = r->task.got;
    so.is_ready = r->is_ready;
    return so;
}

static void on_bell(evutil_socket_t fd, short what, void *arg)
{
    struct receivers *all = arg;
    struct reception *r;
    eventfd_t rung;

    (void)what;
    (void)eventfd_read(fd, &rung);
    while ((r = next_ended(all)) != NULL) {
        const struct reception_result result = so_far(r);

        r->ended(r->arg, &result); /* which may destroy it */
    }
}

struct receivers *receivers_create(struct event_base *base,
                                   unsigned least,
                                   unsigned most)
{
    struct receivers *all = calloc(1, sizeof *all);

    if (!all)
        return NULL;
    (void)pthread_mutex_init(&all->lock, NULL);
    LIST_INIT(&all->ended);
    all->most = most < RECEIVERS_MAX ? most : RECEIVERS_MAX;
    all->least = least;
    all->loop.clock = CLOCK_THREAD_CPUTIME_ID;
    all->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    all->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (all->bell >= 0 && all->stop >= 0)
        all->event =
            event_new(base, all->bell, EV_READ | EV_PERSIST, on_bell, all);
    if (all->event && event_add(all->event, NULL) == 0) {
        set_used(all, least < all->most ? least : all->most);
        if (all->most > 0)
            return all;
    }
    receivers_destroy(all);
    return NULL;
}

void receivers_destroy(struct receivers *all)
{
    if (!all)
        return;
    if (all->stop >= 0)
        (void)eventfd_write(all->stop, 1);
    for (unsigned i = 0; i < all->n; i++)
        end_worker(&all->worker[i]);
    if (all->event)
        event_free(all->event);
    if (all->bell >= 0)
        close(all->bell);
    if (all->stop >= 0)
        close(all->stop);
    (void)pthread_mutex_destroy(&all->lock);
    free(all);
}

/* That which waits, and for the fewest; NULL: all have something to do. */
static struct worker *choose_worker(struct receivers *all)
{
    struct worker *best = NULL;

    for (unsigned i = 0; i < all->used; i++) {
        struct worker *w = &all->worker[i];

        if (!w->busy && (!best || w->n_under < best->n_under))
            best = w;
    }
    return best;
}

struct reception *reception_create(
    struct receivers *all,
    void (*ended)(void *arg, const struct reception_result *),
    void *arg)
{
    struct reception *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->ended = ended;
    r->arg = arg;
    r->all = all;
    return r;
}

static int give(struct reception *r, struct worker *w)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = r};

    if (!w)
        return EBUSY;
    if (epoll_ctl(w->epoll, EPOLL_CTL_ADD, r->task.fd, &e) < 0)
        return errno;
    r->worker = w;
    r->state = UNDER_WAY;
    LIST_INSERT_HEAD(&w->under, r, next);
    w->n_under++;
    return 0;
}

int reception_begin(struct reception *r, const struct reception_task *t)
{
    int why;

    adapt(r->all);
    (void)pthread_mutex_lock(&r->all->lock);
    r->task = *t;
    r->is_ready = 0;
    r->result = (struct reception_result){.end = RECEPTION_FAILED};
    why = give(r, choose_worker(r->all));
    (void)pthread_mutex_unlock(&r->all->lock);
    return why;
}

/* The thread has nothing to do with it any more. */
static void leave(struct reception *r)
{
    struct worker *w = r->worker;

    if (r->state == UNDER_WAY) {
        (void)epoll_ctl(w->epoll, EPOLL_CTL_DEL, r->task.fd, NULL);
        w->n_under--;
    }
    if (r->state != IDLE)
        LIST_REMOVE(r, next);
    r->state = IDLE;
}

/* With the lock: until the thread is not at it. */
static void wait_for(const struct reception *r)
{
    while (r->worker && r->worker->busy == r)
        (void)pthread_cond_wait(&r->worker->stepped, &r->all->lock);
}

int reception_stop(struct reception *r, struct reception_result *so)
{
    int stopped;

    (void)pthread_mutex_lock(&r->all->lock);
    wait_for(r);
    stopped = r->state == UNDER_WAY;
    if (stopped)
        leave(r);
    (void)pthread_mutex_unlock(&r->all->lock);
    if (stopped)
        *so = so_far(r);
    return stopped;
}

void reception_destroy(struct reception *r)
{
    struct receivers *all;

    if (!r)
        return;
    all = r->all;
    (void)pthread_mutex_lock(&all->lock);
    wait_for(r);
    leave(r);
    (void)pthread_mutex_unlock(&all->lock);
    free(r);
}
