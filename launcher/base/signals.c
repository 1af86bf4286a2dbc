/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/signals.h"
#include "launcher/base/notice.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* What starts us may send one twice at once, as timeout(1) does. */
#define SECOND_NS 1000000000

_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2,
               "a handler may use them");

static const int numbers[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

/* A handler is given nothing but the number. */
static struct {
    int bell;
    atomic_int come;       /* one has, and is not forgotten ... */
    atomic_llong since_ns; /* ... from then on */
    atomic_uint untold;    /* a bit for each of numbers */
    atomic_int is_hasty;   /* a second one ends the process */
} at;

/* --- in the handler ------------------------------------------------------- */

static long long now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail */
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* As all signals are held back here, it does when this handler returns. */
static void end_at_once(int number)
{
    static const char words[] =
        "evenstep: a second signal: ended at once: what is half-written the "
        "agents remove\n";

    (void)!write(STDERR_FILENO, words, sizeof words - 1);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void note(int number)
{
    const uint64_t one = 1;

    for (size_t i = 0; i < SIGNALS; i++)
        if (numbers[i] == number)
            (void)atomic_fetch_or(&at.untold, 1u << i);
    if (!atomic_load(&at.come))
        atomic_store(&at.since_ns, now_ns());
    atomic_store(&at.come, 1);
    (void)!write(at.bell, &one, sizeof one);
}

static void on_signal(int number)
{
    int saved = errno;

    if (atomic_load(&at.come) && atomic_load(&at.is_hasty)
        && now_ns() - atomic_load(&at.since_ns) >= SECOND_NS)
        end_at_once(number);
    else
        note(number);
    errno = saved;
}

/* --- in the loop ---------------------------------------------------------- */

static void on_bell(evutil_socket_t fd, short what, void *arg)
{
    struct signals *s = arg;
    eventfd_t rings;
    unsigned untold;

    (void)what;
    (void)eventfd_read(fd, &rings); /* first: what comes then rings again */
    untold = atomic_exchange(&at.untold, 0);
    for (size_t i = 0; i < SIGNALS; i++)
        if (untold & 1u << i)
            s->fn(s->arg, numbers[i]);
}

static int add_bell(struct signals *s, struct event_base *base)
{
    at.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (at.bell < 0)
        return -1;
    s->event = event_new(base, at.bell, EV_READ | EV_PERSIST, on_bell, s);
    if (s->event)
        return event_add(s->event, NULL);
    close(at.bell);
    return -1;
}

int signals_catch(struct signals *s,
                  struct event_base *base,
                  void (*fn)(void *arg, int number),
                  void *arg)
{
    struct sigaction caught = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    *s = (struct signals){.fn = fn, .arg = arg};
    if (add_bell(s, base) < 0)
        return -1;
    (void)sigfillset(&caught.sa_mask);
    for (size_t i = 0; i < SIGNALS; i++) {
        (void)sigaction(numbers[i], NULL, &s->before[i]); /* cannot fail */
        if (s->before[i].sa_handler != SIG_IGN)
            (void)sigaction(numbers[i], &caught, NULL);
    }
    return 0;
}

void signals_release(struct signals *s)
{
    if (!s->event)
        return;
    for (size_t i = 0; i < SIGNALS; i++)
        (void)sigaction(numbers[i], &s->before[i], NULL);
    event_free(s->event);
    close(at.bell);
    memset(s, 0, sizeof *s);
    atomic_store(&at.is_hasty, 0);
    atomic_store(&at.untold, 0);
    signals_forget();
}

void signals_end_at_second(void)
{
    atomic_store(&at.is_hasty, 1);
}

const atomic_int *signals_come(void)
{
    return &at.come;
}

void signals_forget(void)
{
    atomic_store(&at.come, 0);
}

void signals_die(int number, const struct es_error *err)
{
    notice_error("evenstep", err);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}
