/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/libevenstep/meter_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TRIES 4 /* a region is begun in a few nanoseconds */

_Static_assert(sizeof(struct meter_slot) == 64, "a slot is a cache line");
_Static_assert(offsetof(struct meter_page, slot) == 64, "as in the header");
_Static_assert(offsetof(struct meter_rank, call) == 1384, "as in the header");
_Static_assert(offsetof(struct meter_rank, site) == 1448, "as in the header");
_Static_assert(sizeof(struct meter_rank) == 2752, "as in the header");

static uint32_t word(const _Atomic uint32_t *at)
{
    return atomic_load_explicit(at, memory_order_relaxed);
}

static uint64_t count(const _Atomic uint64_t *at)
{
    return atomic_load_explicit(at, memory_order_relaxed);
}

static double fraction_of(uint64_t done, uint64_t total)
{
    return done < total ? (double)done / (double)total : 1;
}

/* The reader's side of a sequence lock; the writer's is in meter.c. */
int meter_slot_read(const struct meter_slot *slot, struct meter_sample *sample)
{
    for (int i = 0; i < TRIES; i++) {
        uint32_t before =
            atomic_load_explicit(&slot->sequence, memory_order_acquire);
        uint64_t total =
            atomic_load_explicit(&slot->total, memory_order_relaxed);
        uint64_t done = atomic_load_explicit(&slot->done, memory_order_relaxed);
        uint64_t regions =
            atomic_load_explicit(&slot->regions, memory_order_relaxed);

        atomic_thread_fence(memory_order_acquire);
        if (before % 2
            || atomic_load_explicit(&slot->sequence, memory_order_relaxed)
                   != before)
            continue;
        sample->owner =
            atomic_load_explicit(&slot->owner, memory_order_relaxed);
        sample->regions = regions;
        sample->fraction = fraction_of(done, total);
        sample->misuse =
            (uint64_t)atomic_load_explicit(&slot->early, memory_order_relaxed)
            + atomic_load_explicit(&slot->beyond, memory_order_relaxed)
            + atomic_load_explicit(&slot->backwards, memory_order_relaxed);
        return 0;
    }
    return -1;
}

int meter_rank_read(const struct meter_rank *rank, struct meter_time *time)
{
    for (int i = 0; i < TRIES; i++) {
        uint32_t before =
            atomic_load_explicit(&rank->sequence, memory_order_acquire);
        struct meter_time t = {
            .size = word(&rank->size),
            .rank = word(&rank->rank),
            .is_waiting = word(&rank->is_waiting) != 0,
            .since_ns = count(&rank->since_ns),
            .useful_ns = count(&rank->useful_ns),
            .waiting_ns = count(&rank->waiting_ns),
            .calls = count(&rank->calls),
            .regions = count(&rank->regions),
            .iterations = count(&rank->iterations),
            .threads = word(&rank->threads),
            .others_ns = count(&rank->others_ns),
            .idle_ns = count(&rank->idle_ns),
            .call = word(&rank->call),
            .ended = word(&rank->ended) != 0,
            .io_ns = count(&rank->io_ns),
            .polled_ns = count(&rank->polled_ns),
            .transfer_ns = count(&rank->transfer_ns),
            .unsure_ns = count(&rank->unsure_ns),
            .borrowed_ns = count(&rank->borrowed_ns),
            .lent_ns = count(&rank->lent_ns),
        };

        atomic_thread_fence(memory_order_acquire);
        if (before % 2
            || atomic_load_explicit(&rank->sequence, memory_order_relaxed)
                   != before)
            continue;
        if (t.size == 0 || t.rank >= t.size)
            return 0;
        *time = t;
        return 1;
    }
    return -1;
}

/* Whatever the bytes are, a name of printable ones. */
static void copy_name(char to[METER_NAME], const char from[METER_NAME])
{
    size_t n = 0;

    for (; n < METER_NAME - 1 && from[n] != '\0'; n++)
        to[n] = from[n] >= ' ' && from[n] <= '~' ? from[n] : '?';
    to[n] = '\0';
}

/* A writer that gives a site to another place unsets `where` first. */
static int read_site(const struct meter_site *from, struct meter_site_view *to)
{
    uint64_t where = atomic_load_explicit(&from->where, memory_order_acquire);

    to->waiting_ns = count(&from->waiting_ns);
    to->calls = count(&from->calls);
    to->call = word(&from->call);
    copy_name(to->name, from->name);
    atomic_thread_fence(memory_order_acquire);
    return where != 0 && count(&from->where) == where;
}

size_t meter_rank_sites(const struct meter_rank *rank,
                        struct meter_site_view site[METER_SITES])
{
    uint32_t used = atomic_load_explicit(&rank->sites, memory_order_acquire);
    size_t n = 0;

    for (uint32_t i = 0; i < used && i < METER_SITES; i++)
        n += (size_t)read_site(&rank->site[i], &site[n]);
    return n;
}

/* A thread that has not been busy since writes nothing at the end of a region:
 * all that it did was before.  The count of these is read first, so that what
 * the thread has done later is told apart. */
int meter_thread_read(const struct meter_page *page,
                      uint32_t i,
                      struct meter_thread *thread)
{
    const struct meter_rank *own = &page->rank[i];
    uint32_t leader = atomic_load_explicit(&own->leader, memory_order_acquire);
    uint64_t ended, regions, useful_ns, ended_ns;
    uint32_t before;

    if (leader == 0 || leader > METER_SLOTS
        || atomic_load_explicit(&own->size, memory_order_relaxed) != 0)
        return 0;
    for (int k = 0; k < TRIES; k++) {
        ended = atomic_load_explicit(&page->rank[leader - 1].regions,
                                     memory_order_acquire);
        before = atomic_load_explicit(&own->sequence, memory_order_acquire);
        regions = atomic_load_explicit(&own->regions, memory_order_relaxed);
        useful_ns = atomic_load_explicit(&own->useful_ns, memory_order_relaxed);
        ended_ns = atomic_load_explicit(&own->ended_ns, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        if (before % 2
            || atomic_load_explicit(&own->sequence, memory_order_relaxed)
                   != before)
            continue;
        thread->leader = leader - 1;
        thread->regions = ended > regions ? ended : regions;
        thread->useful_ns = ended > regions ? useful_ns : ended_ns;
        return 1;
    }
    return -1;
}

typedef struct meter_region place_fn(const struct meter_rank *, uint64_t);

static struct meter_region region_at(const struct meter_rank *rank,
                                     uint64_t number)
{
    size_t at = number % METER_RING;

    return (struct meter_region){
        .number = number,
        .useful_ns = atomic_load_explicit(&rank->ring[at].useful_ns,
                                          memory_order_relaxed),
        .waiting_ns = atomic_load_explicit(&rank->ring[at].waiting_ns,
                                           memory_order_relaxed)};
}

static struct meter_region iteration_at(const struct meter_rank *rank,
                                        uint64_t number)
{
    size_t at = number % METER_RING;

    return (struct meter_region){
        .number = number,
        .useful_ns = atomic_load_explicit(&rank->iteration[at].useful_ns,
                                          memory_order_relaxed),
        .waiting_ns = atomic_load_explicit(&rank->iteration[at].waiting_ns,
                                           memory_order_relaxed),
        .loop = atomic_load_explicit(&rank->iteration[at].loop,
                                     memory_order_relaxed)
                % METER_LOOPS,
        .period = atomic_load_explicit(&rank->iteration[at].period,
                                       memory_order_relaxed)};
}

/* The writer fills a place before it counts it, and may have filled up to
 * `ahead` of them: so many of the oldest may be half written. */
static size_t read_ring(const struct meter_rank *rank,
                        const _Atomic uint64_t *count,
                        place_fn *place,
                        uint64_t ahead,
                        uint64_t from,
                        struct meter_region region[METER_RING])
{
    uint64_t to = atomic_load_explicit(count, memory_order_acquire), now;
    size_t n = 0, lost = 0;

    if (to - from > METER_RING || from > to)
        from = to > METER_RING ? to - METER_RING : 0;
    for (uint64_t r = from; r < to; r++)
        region[n++] = place(rank, r);
    atomic_thread_fence(memory_order_acquire);
    now = atomic_load_explicit(count, memory_order_relaxed);
    if (now < to) /* another program has begun */
        return 0;
    while (lost < n && now + ahead - region[lost].number > METER_RING)
        lost++;
    memmove(region, region + lost, (n - lost) * sizeof *region);
    return n - lost;
}

size_t meter_rank_regions(const struct meter_rank *rank,
                          uint64_t from,
                          struct meter_region region[METER_RING])
{
    return read_ring(rank, &rank->regions, region_at, 1, from, region);
}

size_t meter_rank_iterations(const struct meter_rank *rank,
                             uint64_t from,
                             struct meter_region iteration[METER_RING])
{
    return read_ring(rank, &rank->iterations, iteration_at, 2, from, iteration);
}

struct meter_page *meter_page_create(int *fd)
{
    struct meter_page *page = MAP_FAILED;
    int why,
        made = memfd_create("evenstep-meter", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (made < 0)
        return NULL;
    if (ftruncate(made, METER_BYTES) == 0
        && fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
               == 0)
        page = mmap(NULL, METER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, made,
                    0);
    if (page != MAP_FAILED) {
        page->magic = METER_MAGIC;
        *fd = made;
        return page;
    }
    why = errno;
    close(made);
    errno = why;
    return NULL;
}

void meter_page_destroy(struct meter_page *page)
{
    if (page)
        (void)munmap(page, METER_BYTES); /* cannot fail for what was mapped */
}

uint32_t meter_page_slots(const struct meter_page *page)
{
    uint32_t high = atomic_load_explicit(&page->high, memory_order_relaxed);

    return high < METER_SLOTS ? high : METER_SLOTS;
}
