/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/libevenstep/meter_writer.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* By number: fstat() is no symbol of glibc before 2.33 (mpi_real.h). */
static long look_at(int fd, struct statx *st)
{
    return syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_UID | STATX_SIZE,
                   st);
}

static struct meter_page *map_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct statx st;
    void *at = MAP_FAILED;

    if (fd < 0)
        return NULL;
    if (look_at(fd, &st) == 0 && st.stx_uid == getuid()
        && st.stx_size == METER_BYTES)
        at = mmap(NULL, METER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return NULL;
    if (((struct meter_page *)at)->magic == METER_MAGIC)
        return at;
    (void)munmap(at, METER_BYTES);
    return NULL;
}

struct meter_page *meter_writer_map(void)
{
    const char *dir = getenv("EVENSTEP_DIR");
    char path[4096];

    if (!dir
        || (size_t)snprintf(path, sizeof path, "%s/" METER_FILE, dir)
               >= sizeof path)
        return NULL;
    return map_file(path);
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
    atomic_store_explicit(&slot->threads, 0, memory_order_relaxed);
}

static void clear_entry(struct meter_rank *entry)
{
    _Atomic uint64_t *const times[] = {&entry->io_ns,       &entry->polled_ns,
                                       &entry->transfer_ns, &entry->unsure_ns,
                                       &entry->borrowed_ns, &entry->lent_ns};

    atomic_store_explicit(&entry->size, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->leader, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->wants, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->call, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->ended, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->sites, 0, memory_order_relaxed);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        atomic_store_explicit(times[i], 0, memory_order_relaxed);
}

static void raise_high(struct meter_page *page, uint32_t slots)
{
    uint32_t high = atomic_load(&page->high);

    while (high < slots
           && !atomic_compare_exchange_weak(&page->high, &high, slots))
        ;
}

static struct meter_slot *take(struct meter_page *page, int over_ranks)
{
    uint32_t self = (uint32_t)getpid();

    for (uint32_t i = 0; i < METER_SLOTS; i++) {
        struct meter_slot *slot = &page->slot[i];
        uint32_t nobody = 0;

        if (!over_ranks
            && atomic_load_explicit(&page->rank[i].size, memory_order_relaxed)
                   != 0)
            continue;
        if (atomic_load_explicit(&slot->owner, memory_order_relaxed) == 0
            && atomic_compare_exchange_strong(&slot->owner, &nobody, self)) {
            clear_slot(slot);
            atomic_store_explicit(&slot->thread, (uint32_t)syscall(SYS_gettid),
                                  memory_order_relaxed);
            clear_entry(&page->rank[i]);
            raise_high(page, i + 1);
            return slot;
        }
    }
    return NULL;
}

struct meter_slot *meter_writer_take(struct meter_page *page)
{
    return take(page, 1);
}

struct meter_slot *meter_writer_take_beside(struct meter_page *page)
{
    return take(page, 0);
}

void meter_writer_begin(struct meter_slot *slot, uint64_t total)
{
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

void meter_writer_release(struct meter_slot *slot)
{
    atomic_store_explicit(&slot->owner, 0, memory_order_release);
}
