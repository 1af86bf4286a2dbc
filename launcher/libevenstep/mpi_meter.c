/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/libevenstep/mpi_meter.h"
#include "launcher/libevenstep/lend.h"
#include "launcher/libevenstep/meter_writer.h"
#include "launcher/libevenstep/mpi_beside.h"
#include "launcher/libevenstep/mpi_loops.h"
#include "launcher/libevenstep/mpi_poll.h"
#include "launcher/libevenstep/mpi_sites.h"
#include "launcher/libevenstep/team_thread.h"
#include "launcher/libevenstep/thread_time.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

_Static_assert(METER_LOOPS == MPI_LOOPS_MOST, "the page has all loops");

#define COMMS 4u /* communicators whose size is remembered */

/* Loads: the general model of such variables costs a call. */
#define OF_THREAD                                                              \
    static _Thread_local __attribute__((tls_model("initial-exec")))

OF_THREAD int is_metered; /* this thread */
OF_THREAD int is_on;      /* likewise, and is in no metered call */

/* What follows is written by the metered thread only. */
static struct mpi_region region;
static struct mpi_loops loops;
static uint64_t iterations;
static struct mpi_poll poll;
static uint64_t gap_ns;         /* of polling, before the call that it is in */
static struct meter_slot *slot; /* NULL: nothing is metered */
static struct meter_rank *entry;
static int world_size;
static struct {
    long key;
    int is_fortran;
    unsigned epoch; /* not of this one: to be asked anew */
    int is_global;
} known[COMMS];
static unsigned next_known;

static atomic_flag was_started = ATOMIC_FLAG_INIT;
static _Atomic unsigned comm_epoch = 1; /* raised when one is freed */
static _Atomic int has_own_ticks;

static uint64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail for this clock */
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- communicators -------------------------------------------------------- */

/* Does the communicator hold all ranks?  1, 0, or -1: not known. */
static int remembered(int is_fortran, long key, unsigned epoch)
{
    for (unsigned i = 0; i < COMMS; i++)
        if (known[i].key == key && known[i].is_fortran == is_fortran
            && known[i].epoch == epoch)
            return known[i].is_global;
    return -1;
}

static int is_global_if_known(unsigned what, long comm)
{
    int is_fortran = (what & MPI_WHAT_FORTRAN) != 0;

    return (what & MPI_WHAT_ENDS)
           && remembered(is_fortran, mpi_real_key(is_fortran, comm),
                         atomic_load(&comm_epoch))
                  == 1;
}

static int is_global(unsigned what, long comm)
{
    int is_fortran = (what & MPI_WHAT_FORTRAN) != 0, answer;
    unsigned epoch = atomic_load(&comm_epoch);
    long key;

    if (!(what & MPI_WHAT_ENDS))
        return 0;
    key = mpi_real_key(is_fortran, comm);
    answer = remembered(is_fortran, key, epoch);
    if (answer < 0) {
        answer = mpi_real_size(is_fortran, comm) == world_size;
        known[next_known].key = key;
        known[next_known].is_fortran = is_fortran;
        known[next_known].epoch = epoch;
        known[next_known].is_global = answer;
        next_known = (next_known + 1) % COMMS;
    }
    return answer;
}

static void forget_communicators(void)
{
    atomic_fetch_add(&comm_epoch, 1);
}

/* --- the page ------------------------------------------------------------- */

static void put(_Atomic uint64_t *at, uint64_t value)
{
    atomic_store_explicit(at, value, memory_order_relaxed);
}

/* The readers' side is meter_rank_read().  call: that it is in, plus 1. */
static void publish_time(uint32_t call)
{
    uint32_t sequence =
        atomic_load_explicit(&entry->sequence, memory_order_relaxed) | 1;

    atomic_store_explicit(&entry->sequence, sequence, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&entry->is_waiting, (uint32_t)region.is_waiting,
                          memory_order_relaxed);
    put(&entry->since_ns, region.since_ns);
    put(&entry->useful_ns, region.useful_ns);
    put(&entry->waiting_ns, region.waiting_ns);
    put(&entry->calls, region.calls);
    put(&entry->regions, region.regions);
    put(&entry->iterations, iterations);
    put(&entry->io_ns, region.io_ns);
    put(&entry->polled_ns, region.polled_ns);
    put(&entry->transfer_ns, mpi_sites_transfer());
    put(&entry->unsure_ns, region.unsure_ns);
    atomic_store_explicit(&entry->call, call, memory_order_relaxed);
    atomic_store_explicit(&entry->sequence, sequence + 1, memory_order_release);
}

/* The place in the ring is filled before the region is counted, by
 * publish_time(), which has the fence. */
static void publish_region(void)
{
    uint64_t last = region.regions - 1;

    put(&entry->ring[last % METER_RING].useful_ns,
        region.last_ns[last % MPI_REGION_LAST]);
    put(&entry->ring[last % METER_RING].waiting_ns, region.waited_ns);
}

static void publish_iterations(const struct mpi_iteration ended[], unsigned n)
{
    for (unsigned i = 0; i < n; i++, iterations++) {
        size_t at = iterations % METER_RING;

        put(&entry->iteration[at].useful_ns, ended[i].useful_ns);
        put(&entry->iteration[at].waiting_ns, ended[i].waiting_ns);
        atomic_store_explicit(&entry->iteration[at].loop, ended[i].loop,
                              memory_order_relaxed);
        atomic_store_explicit(&entry->iteration[at].period, ended[i].period,
                              memory_order_relaxed);
    }
}

/* Whose program tells its progress has a slot for that; this one must not speak
 * for it, too. */
static void leave_slot(void)
{
    if (atomic_load_explicit(&slot->regions, memory_order_relaxed) > 0) {
        meter_writer_begin(slot, 0);
        put(&slot->regions, 0);
    }
}

static void publish_begin(void)
{
    if (atomic_load_explicit(&has_own_ticks, memory_order_relaxed))
        leave_slot();
    else
        meter_writer_begin(slot, region.expected_ns);
}

static void publish_done(int is_over)
{
    if (!atomic_load_explicit(&has_own_ticks, memory_order_relaxed))
        put(&slot->done, mpi_region_done(&region, is_over));
}

/* --- the calls ------------------------------------------------------------ */

int mpi_meter_enter(unsigned what, long at)
{
    uint64_t now;
    enum mpi_gap gap;

    if (what & MPI_WHAT_FREES)
        forget_communicators();
    if (!is_metered) {
        team_thread_call();
        return mpi_beside_enter((what & MPI_WHAT_TESTS) != 0);
    }
    if (!is_on)
        return 0;
    is_on = 0;
    now = now_ns();
    gap_ns = now - region.since_ns;
    gap = mpi_poll_begin(&poll, (what & MPI_WHAT_TESTS) != 0, now, gap_ns);
    if (gap != MPI_GAP_POLLED)
        gap_ns = 0;
    mpi_region_wait(&region, now, gap, mpi_beside_idle());
    publish_time((what & MPI_WHAT_NUMBER) + 1);
    publish_done(is_global_if_known(what, at));
    return 1;
}

static uint64_t signature_of(const void *caller, const void *frame)
{
    return (uint64_t)(uintptr_t)caller * UINT64_C(0x9e3779b97f4a7c15)
           + (uint64_t)(uintptr_t)frame;
}

static void find_iterations(uint64_t signature)
{
    struct mpi_iteration ended[MPI_LOOPS_ENDS];
    unsigned n = mpi_loops_add(&loops, signature, region.useful_ns,
                               region.waiting_ns, ended);

    publish_iterations(ended, n);
}

static int has_found_nothing(unsigned what, long at)
{
    return (what & MPI_WHAT_TESTS) && at && *(const int *)at == 0;
}

static enum mpi_end end_of(unsigned what, long at)
{
    if (is_global(what, at))
        return MPI_END_REGION;
    if (has_found_nothing(what, at))
        return MPI_END_NOTHING;
    return what & MPI_WHAT_OWN ? MPI_END_IO : MPI_END_CALL;
}

/* The place is given up, with its numbers as they are. */
static void stop(void)
{
    is_on = 0;
    thread_time_stop();
    lend_stop();
    mpi_beside_stop();
    mpi_sites_end(region.waiting_ns);
    atomic_store_explicit(&entry->ended, 1, memory_order_relaxed);
    meter_writer_release(slot);
    slot = NULL;
}

static void leave(unsigned what, long at, const void *caller, const void *frame)
{
    enum mpi_end end = end_of(what, at);
    uint64_t before_ns = region.waiting_ns;

    mpi_region_resume(&region, now_ns(), end, mpi_beside_busy(region.since_ns));
    mpi_sites_add(caller, what & MPI_WHAT_NUMBER, region.waiting_ns - before_ns,
                  gap_ns, end == MPI_END_CALL && (what & MPI_WHAT_MESSAGES));
    if (end == MPI_END_REGION) {
        find_iterations(signature_of(caller, frame));
        publish_region();
        publish_begin();
    }
    publish_time(0);
    mpi_poll_end(&poll, region.since_ns, end != MPI_END_NOTHING);
    is_on = 1;
    if (what & MPI_WHAT_LEAVES)
        stop();
}

void mpi_meter_leave(unsigned what,
                     long at,
                     const void *caller,
                     const void *frame)
{
    if (!is_metered)
        mpi_beside_leave(!has_found_nothing(what, at));
    else if (slot) /* else a child, made within the call */
        leave(what, at, caller, frame);
}

/* The page belongs to the parent alone. */
static void on_fork_child(void)
{
    slot = NULL;
    is_on = 0;
    thread_time_forget();
    lend_stop();
    mpi_beside_stop();
}

static void take_place(int rank, int size)
{
    struct meter_page *page = meter_writer_map();

    slot = page ? meter_writer_take(page) : NULL;
    if (!slot)
        return;
    entry = &page->rank[slot - page->slot];
    world_size = size;
    mpi_region_start(&region, now_ns());
    publish_time(0);
    mpi_sites_start(entry);
    thread_time_start(page, (uint32_t)(slot - page->slot));
    lend_start(page, (uint32_t)(slot - page->slot));
    mpi_beside_start(entry);
    atomic_store_explicit(&entry->rank, (uint32_t)rank, memory_order_relaxed);
    atomic_store_explicit(&entry->size, (uint32_t)size, memory_order_release);
}

void mpi_meter_start(const void *caller)
{
    int rank, size;

    if (!getenv("EVENSTEP_DIR") || !mpi_real_world(caller, &rank, &size)
        || atomic_flag_test_and_set(&was_started)
        || mpi_real_at_fork(on_fork_child) != 0)
        return;
    take_place(rank, size);
    is_metered = is_on = slot != NULL;
}

void mpi_meter_yield(void)
{
    atomic_store_explicit(&has_own_ticks, 1, memory_order_relaxed);
}
