/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/libevenstep/thread_time.h"
#include "launcher/libevenstep/team_thread.h"

#include <stdatomic.h>
#include <time.h>

static struct meter_rank *_Atomic entry; /* NULL: nothing is measured */

/* Loads: the general model of such variables costs a call. */
#define OF_THREAD                                                              \
    static _Thread_local __attribute__((tls_model("initial-exec")))

OF_THREAD int is_metered;
OF_THREAD int is_busy;
OF_THREAD uint64_t since_ns; /* that it is; 0: not known */

static uint64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail for this clock */
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void thread_time_start(struct meter_page *page, uint32_t slot)
{
    struct meter_rank *e = &page->rank[slot];

    atomic_store_explicit(&e->threads, 0, memory_order_relaxed);
    atomic_store_explicit(&e->others_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&e->idle_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&e->wants, 0, memory_order_relaxed);
    is_metered = is_busy = 1;
    since_ns = now_ns();
    team_thread_start(page, slot);
    atomic_store_explicit(&entry, e, memory_order_release);
}

void thread_time_stop(void)
{
    atomic_store_explicit(&entry, NULL, memory_order_relaxed);
    team_thread_stop();
}

void thread_time_forget(void)
{
    atomic_store_explicit(&entry, NULL, memory_order_relaxed);
    team_thread_forget();
}

int thread_time_is_on(void)
{
    return atomic_load_explicit(&entry, memory_order_relaxed) != NULL;
}

/* Of the metered thread only: others' teams are within its own. */
static void note_team(unsigned n)
{
    struct meter_rank *e = atomic_load_explicit(&entry, memory_order_acquire);

    if (is_metered && e
        && n > atomic_load_explicit(&e->threads, memory_order_relaxed))
        atomic_store_explicit(&e->threads, n, memory_order_relaxed);
}

int thread_time_set(int busy)
{
    struct meter_rank *e = atomic_load_explicit(&entry, memory_order_acquire);
    int was = is_busy;
    uint64_t now;

    if (was == busy)
        return was;
    now = e ? now_ns() : 0;
    /* The metered thread's waiting counts, of others what they do. */
    if (e && since_ns > 0 && busy == is_metered)
        atomic_fetch_add_explicit(is_metered ? &e->idle_ns : &e->others_ns,
                                  now - since_ns, memory_order_relaxed);
    since_ns = now;
    is_busy = busy;
    if (busy)
        team_thread_resume(now);
    else
        team_thread_wait(now);
    return was;
}

/* The metered thread has been busy for longer. */
void thread_time_enter(unsigned n, int is_first)
{
    note_team(n);
    (void)thread_time_set(1);
    if (n > 1)
        team_thread_enter(is_metered, is_first,
                          is_metered ? now_ns() : since_ns);
}

void thread_time_leave(unsigned n)
{
    if (n > 1)
        team_thread_leave();
}

void thread_time_give_up(void)
{
    struct meter_rank *e = atomic_exchange(&entry, NULL);

    team_thread_stop();
    if (e)
        atomic_store_explicit(&e->threads, 0, memory_order_relaxed);
}
