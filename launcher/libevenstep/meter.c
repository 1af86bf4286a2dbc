/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The progress meter of libevenstep.
 *
 * Each thread gets a slot at its first call.  If there is no page, or all slots
 * are taken, it gets one that nobody reads.  So a tick need not look for a
 * slot: it compares and stores.
 */
#include "launcher/libevenstep/evenstep.h"
#include "launcher/libevenstep/meter_writer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
/* glibc reserves a few hundred bytes of this kind for libraries that are loaded
 * late.  The general model costs a function call for each access. */
#define THREAD_OWN _Thread_local __attribute__((tls_model("initial-exec")))

static pthread_once_t opened = PTHREAD_ONCE_INIT;
static pthread_key_t at_exit; /* its destructor runs when a thread ends */
static int has_key;
static struct meter_page *page; /* NULL: there is none */

static THREAD_OWN struct meter_slot *own; /* NULL before the first call */
static THREAD_OWN struct meter_slot unread;

static void release_slot(void *slot)
{
    meter_writer_release(slot);
}

/* After fork() the slots still belong to the parent. */
static void on_fork_child(void)
{
    own = NULL;
    if (has_key)
        (void)pthread_setspecific(at_exit, NULL);
}

static void open_page(void)
{
    page = meter_writer_map();
    has_key = page && pthread_key_create(&at_exit, release_slot) == 0;
    if (page)
        (void)pthread_atfork(NULL, NULL, on_fork_child);
}

/* A slot for this thread. */
static struct meter_slot *take_slot(void)
{
    struct meter_slot *slot;

    (void)pthread_once(&opened, open_page);
    slot = page ? meter_writer_take(page) : NULL;
    if (slot && has_key)
        (void)pthread_setspecific(at_exit, slot);
    return slot ? slot : &unread;
}

static void increment(_Atomic uint32_t *n)
{
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

EXPORT void evenstep_work(uint64_t total)
{
    meter_writer_begin(own ? own : (own = take_slot()), total);
}

/* Count a call that makes no sense; it changes nothing else. */
static __attribute__((noinline)) void count_misuse(uint64_t done)
{
    struct meter_slot *slot = own ? own : (own = take_slot());

    if (atomic_load_explicit(&slot->regions, memory_order_relaxed) == 0)
        increment(&slot->early);
    else if (done > atomic_load_explicit(&slot->total, memory_order_relaxed))
        increment(&slot->beyond);
    else
        increment(&slot->backwards);
}

EXPORT void evenstep_tick(uint64_t done)
{
    struct meter_slot *slot = own;

    if (__builtin_expect(
            !slot
                || done > atomic_load_explicit(&slot->total,
                                               memory_order_relaxed)
                || done
                       < atomic_load_explicit(&slot->done, memory_order_relaxed)
                || atomic_load_explicit(&slot->regions, memory_order_relaxed)
                       == 0,
            0))
        count_misuse(done);
    else
        atomic_store_explicit(&slot->done, done, memory_order_relaxed);
}

/* The agent tells all slots of a process the same. */
static uint32_t threads_of_process(void)
{
    uint32_t self = (uint32_t)getpid(),
             slots = atomic_load_explicit(&page->high, memory_order_relaxed);

    for (uint32_t i = 0; i < slots && i < METER_SLOTS; i++) {
        const struct meter_slot *slot = &page->slot[i];
        uint32_t threads =
            atomic_load_explicit(&slot->threads, memory_order_relaxed);

        if (threads > 0
            && atomic_load_explicit(&slot->owner, memory_order_relaxed) == self)
            return threads;
    }
    return atomic_load_explicit(&page->threads, memory_order_relaxed);
}

EXPORT int evenstep_threads(void)
{
    (void)pthread_once(&opened, open_page);
    return page ? (int)threads_of_process() : 0;
}
