/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread writes when it begins to wait: then all that it did since it was busy
 * belongs to the region that the metered thread has counted up to, as that waits
 * for this one before it can count another.
 */
#include "launcher/libevenstep/team_thread.h"
#include "launcher/libevenstep/meter_writer.h"
#include "launcher/libevenstep/mpi_real.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static struct meter_page *page;
/* Slot of the metered thread, plus 1, and how often there was one before, as the
 * next may have the same slot; 0: none. */
static _Atomic uint64_t leader;
static uint32_t starts;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_exit; /* its destructor runs when a thread ends */
static int has_key;

struct own_thread {
    struct meter_slot *slot;
    struct meter_rank *entry;
    uint64_t leader; /* as it was told of: */
    uint64_t regions, useful_ns, ended_ns;
    unsigned depth;     /* of teams in which it is */
    int is_metered;     /* it leads */
    uint64_t since_ns;  /* that it is busy in a team; 0: it waits */
    uint64_t waited_ns; /* the rank in MPI, then */
};

/* Loads: the general model of such variables costs a call. */
static __thread struct own_thread own
    __attribute__((tls_model("initial-exec")));

static void put(_Atomic uint64_t *at, uint64_t value)
{
    atomic_store_explicit(at, value, memory_order_relaxed);
}

static uint64_t get(const _Atomic uint64_t *at)
{
    return atomic_load_explicit(at, memory_order_relaxed);
}

static struct meter_rank *entry_of(const struct meter_slot *slot)
{
    return &page->rank[slot - page->slot];
}

static const struct meter_rank *rank_of(uint64_t now_leader)
{
    return &page->rank[(uint32_t)now_leader - 1];
}

/* --- a slot for a thread -------------------------------------------------- */

static void release(void *slot)
{
    atomic_store(&entry_of(slot)->leader, 0);
    meter_writer_release(slot);
}

static void make_key(void)
{
    has_key = pthread_key_create(&at_exit, release) == 0;
}

/* The reader's side is meter_thread_read(). */
static void publish(void)
{
    uint32_t sequence =
        atomic_load_explicit(&own.entry->sequence, memory_order_relaxed) | 1;

    atomic_store_explicit(&own.entry->sequence, sequence, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    put(&own.entry->regions, own.regions);
    put(&own.entry->useful_ns, own.useful_ns);
    put(&own.entry->ended_ns, own.ended_ns);
    atomic_store_explicit(&own.entry->sequence, sequence + 1,
                          memory_order_release);
}

static int take_slot(void)
{
    if (own.slot)
        return 0;
    own.slot = has_key ? meter_writer_take_beside(page) : NULL;
    if (!own.slot)
        return -1;
    own.entry = entry_of(own.slot);
    (void)pthread_setspecific(at_exit, own.slot);
    return 0;
}

/* A team of which some are not told would be taken for those that are.  Who stops
 * all meanwhile has seen this one's leader, or it sees that. */
static void begin(uint64_t now_leader)
{
    if (take_slot() < 0) {
        team_thread_stop();
        return;
    }
    own.leader = now_leader;
    own.regions = get(&rank_of(now_leader)->regions);
    own.useful_ns = own.ended_ns = 0;
    publish();
    atomic_store(&own.entry->leader, (uint32_t)now_leader);
    if (atomic_load(&leader) != now_leader)
        atomic_store(&own.entry->leader, 0);
}

/* --- in a team ------------------------------------------------------------ */

static int is_told(void)
{
    return own.leader != 0
           && atomic_load_explicit(&leader, memory_order_acquire) == own.leader;
}

/* The metered thread may call MPI within its team. */
static uint64_t rank_waited(void)
{
    return own.is_metered ? get(&rank_of(own.leader)->waiting_ns) : 0;
}

static void add(uint64_t busy_ns, uint64_t waited_ns)
{
    uint64_t regions = get(&rank_of(own.leader)->regions);

    if (regions != own.regions) {
        own.ended_ns = own.useful_ns;
        own.regions = regions;
    }
    own.useful_ns += busy_ns > waited_ns ? busy_ns - waited_ns : 0;
    publish();
}

void team_thread_resume(uint64_t now_ns)
{
    if (own.depth == 0 || !is_told())
        return;
    own.since_ns = now_ns;
    own.waited_ns = rank_waited();
}

void team_thread_wait(uint64_t now_ns)
{
    if (own.since_ns > 0 && is_told())
        add(now_ns - own.since_ns, rank_waited() - own.waited_ns);
    own.since_ns = 0;
}

void team_thread_enter(int is_metered, int is_first, uint64_t now_ns)
{
    uint64_t now_leader = atomic_load_explicit(&leader, memory_order_acquire);

    own.depth++;
    if (now_leader == 0)
        return;
    if (own.depth > 1 || (is_first && !is_metered)) {
        team_thread_stop();
        return;
    }
    own.is_metered = is_metered;
    if (own.leader != now_leader)
        begin(now_leader);
    team_thread_resume(now_ns);
}

void team_thread_leave(void)
{
    if (own.depth > 0)
        own.depth--;
    own.since_ns = 0;
}

void team_thread_call(void)
{
    if (own.depth > 0 && !own.is_metered && is_told())
        team_thread_stop();
}

/* --- start and end -------------------------------------------------------- */

void team_thread_start(struct meter_page *p, uint32_t slot)
{
    if (pthread_once)
        (void)pthread_once(&once, make_key);
    page = p;
    atomic_store(&leader, (uint64_t)++starts << 32 | (slot + 1));
}

/* Each keeps its slot until it ends. */
void team_thread_stop(void)
{
    uint64_t was = atomic_exchange(&leader, 0);
    uint32_t self = (uint32_t)getpid(),
             slots = was ? meter_page_slots(page) : 0;

    for (uint32_t i = 0; i < slots; i++)
        if (atomic_load(&page->slot[i].owner) == self)
            atomic_store(&page->rank[i].leader, 0);
}

void team_thread_forget(void)
{
    atomic_store(&leader, 0);
    own.slot = NULL;
    own.leader = 0;
    if (has_key)
        (void)pthread_setspecific(at_exit, NULL);
}
