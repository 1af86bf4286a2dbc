/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The progress meter of libevenstep: the writer's side of meter_page.h.
 *
 * Each thread gets a slot at its first call.  If there is no page, or all slots
 * are taken, it gets one that nobody reads.  So a tick need not look for a
 * slot: it compares and stores.
 */
#include "launcher/libevenstep/evenstep.h"
#include "launcher/libevenstep/meter_page.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

static struct meter_page *map_page(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat st;
    void *at = MAP_FAILED;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && st.st_uid == getuid()
        && st.st_size == (off_t)METER_BYTES)
        at = mmap(NULL, METER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return NULL;
    if (((struct meter_page *)at)->magic == METER_MAGIC)
        return at;
    (void)munmap(at, METER_BYTES);
    return NULL;
}

static void release_slot(void *slot)
{
    atomic_store_explicit(&((struct meter_slot *)slot)->owner, 0,
                          memory_order_release);
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
    const char *dir = getenv("EVENSTEP_DIR");
    char path[4096];

    if (!dir
        || (size_t)snprintf(path, sizeof path, "%s/" METER_FILE, dir)
               >= sizeof path)
        return;
    page = map_page(path);
    has_key = page && pthread_key_create(&at_exit, release_slot) == 0;
    if (page)
        (void)pthread_atfork(NULL, NULL, on_fork_child);
}

static void clear_slot(struct meter_slot *slot)
{
    atomic_store_explicit(&slot->sequence, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->total, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->done, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->regions, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->early, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->beyond, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->backwards, 0, memory_order_relaxed);
}

static void raise_high(uint32_t slots)
{
    uint32_t high = atomic_load(&page->high);

    while (high < slots
           && !atomic_compare_exchange_weak(&page->high, &high, slots))
        ;
}

/* Take the first free slot for this thread. */
static struct meter_slot *take_slot(void)
{
    uint32_t self = (uint32_t)getpid();

    (void)pthread_once(&opened, open_page);
    for (uint32_t i = 0; page && i < METER_SLOTS; i++) {
        struct meter_slot *slot = &page->slot[i];
        uint32_t nobody = 0;

        if (atomic_load_explicit(&slot->owner, memory_order_relaxed) == 0
            && atomic_compare_exchange_strong(&slot->owner, &nobody, self)) {
            clear_slot(slot);
            if (has_key)
                (void)pthread_setspecific(at_exit, slot);
            raise_high(i + 1);
            return slot;
        }
    }
    return &unread;
}

static void increment(_Atomic uint32_t *n)
{
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

EXPORT void evenstep_work(uint64_t total)
{
    struct meter_slot *slot = own ? own : (own = take_slot());
    uint32_t sequence =
        atomic_load_explicit(&slot->sequence, memory_order_relaxed);
    uint64_t regions =
        atomic_load_explicit(&slot->regions, memory_order_relaxed);

    atomic_store_explicit(&slot->sequence, sequence | 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&slot->total, total, memory_order_relaxed);
    atomic_store_explicit(&slot->done, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->regions, regions + 1, memory_order_relaxed);
    atomic_store_explicit(&slot->sequence, (sequence | 1) + 1,
                          memory_order_release);
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

EXPORT int evenstep_threads(void)
{
    (void)pthread_once(&opened, open_page);
    return page
               ? (int)atomic_load_explicit(&page->threads, memory_order_relaxed)
               : 0;
}
