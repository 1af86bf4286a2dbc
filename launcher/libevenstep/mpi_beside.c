/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/libevenstep/mpi_beside.h"
#include "launcher/libevenstep/mpi_poll.h"
#include "launcher/libevenstep/mpi_real.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS  20000u /* between two looks at the metered thread's CPU time */
#define STATE_NS 1000000u /* after that, at its state, too */

#define LATE_NS                                                                \
    40000u /* outside of MPI: two looks at its own cost a hundredth */

/* Of a thread by its number, as clock_gettime() takes it since Linux 2.6.12. */
#define CPU_CLOCK_OF(tid) ((clockid_t)(~(unsigned)(tid) << 3 | 6u))

static const struct meter_rank *entry;
static clockid_t metered_clock;
static long metered_tid;
static _Atomic int is_on;
static _Atomic int had_others; /* threads have called MPI */
static _Atomic uint64_t idle_ns;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_exit;
static int has_key;

/* What follows has this lock, held for some ten ns, or for a look. */
static atomic_flag lock = ATOMIC_FLAG_INIT;
static unsigned known,
    inside;                   /* threads that have called MPI; that are in it */
static uint64_t all_since_ns; /* that all of them are; what is before is told */
static uint64_t looked_ns, looked_cpu_ns;

/* For how long another thread computed while the metered one was in the call that
 * began then; of several the longest. */
static uint64_t busy_ns, busy_since_ns;

struct own_calls {
    int is_known, is_inside;
    int is_late;       /* it was outside for long */
    uint64_t since_ns; /* end of its last call; 0: there was none */
    uint64_t cpu_ns;   /* of the thread, when it was looked at */
    long sleeps;       /* likewise */
    uint64_t busy_ns, busy_since_ns;
    struct mpi_poll poll;
};

/* A load: the general model of such variables costs a call. */
static __thread struct own_calls own __attribute__((tls_model("initial-exec")));

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    if (clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void take(void)
{
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        (void)sched_yield();
}

static void give(void)
{
    atomic_flag_clear_explicit(&lock, memory_order_release);
}

void mpi_beside_start(const struct meter_rank *e)
{
    entry = e;
    metered_tid = syscall(SYS_gettid);
    metered_clock = CPU_CLOCK_OF(metered_tid);
    atomic_store(&is_on, 1);
}

void mpi_beside_stop(void)
{
    atomic_store(&is_on, 0);
}

uint64_t mpi_beside_idle(void)
{
    if (atomic_load_explicit(&idle_ns, memory_order_relaxed) == 0)
        return 0;
    return atomic_exchange_explicit(&idle_ns, 0, memory_order_relaxed);
}

/* --- threads -------------------------------------------------------------- */

/* In a child after fork() nobody may give the lock back. */
static void on_thread_end(void *arg)
{
    (void)arg;
    if (!atomic_load(&is_on))
        return;
    take();
    known--;
    give();
}

static void make_key(void)
{
    has_key = pthread_key_create(&at_exit, on_thread_end) == 0;
}

static void know_thread(void)
{
    if (pthread_once && pthread_key_create)
        (void)pthread_once(&once, make_key);
    own.is_known = has_key && pthread_setspecific(at_exit, &own) == 0;
    if (own.is_known) {
        take();
        known++;
        give();
        atomic_store(&had_others, 1);
    }
}

/* --- the metered thread --------------------------------------------------- */

static void look(uint64_t now)
{
    looked_ns = now;
    looked_cpu_ns = clock_ns(metered_clock);
}

/* Runs it, or would it, had it a CPU?  In doubt it sleeps. */
static int wants_cpu(void)
{
    char path[64], text[512], *end;
    ssize_t n = -1;
    int fd;

    (void)snprintf(path, sizeof path, "/proc/self/task/%ld/stat", metered_tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, sizeof text - 1);
        (void)close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    end = strrchr(text, ')'); /* of the program's name */
    return end && strncmp(end, ") R", 3) == 0;
}

/* All others were in MPI until now.  While the metered one is, too, it counts
 * that itself. */
static void tell(uint64_t now)
{
    uint64_t since =
        atomic_load_explicit(&entry->since_ns, memory_order_relaxed);
    uint64_t cpu = looked_cpu_ns, passed = now - looked_ns, ran;

    if (since < all_since_ns)
        since = all_since_ns;
    all_since_ns = now;
    look(now);
    ran = looked_cpu_ns - cpu;
    if (atomic_load_explicit(&entry->is_waiting, memory_order_relaxed)
        || since >= now || ran >= passed
        || (now - since >= STATE_NS && wants_cpu()))
        return;
    passed -= ran;
    atomic_fetch_add_explicit(&idle_ns,
                              passed < now - since ? passed : now - since,
                              memory_order_relaxed);
}

/* --- calls ---------------------------------------------------------------- */

static void look_at_own(void)
{
    struct rusage usage;

    own.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (getrusage(RUSAGE_THREAD, &usage) == 0)
        own.sleeps = usage.ru_nvcsw;
}

/* It was outside of MPI until now, while the metered one was in MPI: then it
 * computed, with or without a CPU, but if it has slept, only as far as it had one. */
static void tell_busy(uint64_t now)
{
    uint64_t since =
        atomic_load_explicit(&entry->since_ns, memory_order_relaxed);
    uint64_t from = since > own.since_ns ? since : own.since_ns, ran;
    uint64_t was_ns = own.cpu_ns;
    long slept = own.sleeps;

    look_at_own();
    if (!atomic_load_explicit(&entry->is_waiting, memory_order_relaxed)
        || from >= now)
        return;
    ran = own.cpu_ns - was_ns;
    if (own.sleeps == slept || ran > now - from)
        ran = now - from;
    if (own.busy_since_ns != since)
        own.busy_ns = 0;
    own.busy_since_ns = since;
    own.busy_ns += ran;
    take();
    if (busy_since_ns != since || busy_ns < own.busy_ns)
        busy_ns = own.busy_ns;
    busy_since_ns = since;
    give();
}

uint64_t mpi_beside_busy(uint64_t since_ns)
{
    uint64_t busy;

    if (!atomic_load_explicit(&had_others, memory_order_relaxed))
        return 0;
    take();
    busy = busy_since_ns == since_ns ? busy_ns : 0;
    give();
    return busy;
}

int mpi_beside_enter(int is_test)
{
    uint64_t now, passed;
    enum mpi_gap gap;

    if (!atomic_load_explicit(&is_on, memory_order_acquire) || own.is_inside)
        return 0;
    if (!own.is_known)
        know_thread();
    now = clock_ns(CLOCK_MONOTONIC);
    passed = now - own.since_ns;
    gap = mpi_poll_begin(&own.poll, is_test, now, passed);
    own.is_late = gap != MPI_GAP_POLLED && passed >= LATE_NS;
    if (own.is_late)
        tell_busy(now);
    own.is_inside = 1;
    take();
    if (gap != MPI_GAP_POLLED) {
        all_since_ns = now;
        if (now - looked_ns >= LOOK_NS)
            look(now);
    }
    inside++;
    give();
    return 1;
}

void mpi_beside_leave(int found)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    own.is_inside = 0;
    if (!atomic_load_explicit(&is_on, memory_order_acquire))
        return;
    take();
    if (inside == known && now - all_since_ns >= LOOK_NS)
        tell(now);
    inside--;
    give();
    own.since_ns = now;
    if (own.is_late)
        look_at_own();
    mpi_poll_end(&own.poll, now, found);
}
