/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A rank enters the CPUs that it may use into the page as its own.  One that
 * several ranks may use is nobody's: there the kernel lends.  Who borrows a CPU
 * says so in its place first, so that no two do.
 */
#include "launcher/libevenstep/lend.h"
#include "launcher/libevenstep/mpi_real.h"
#include "policy/lending.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 5000000 /* between two looks */
#define REST_NS                                                                \
    100000000            /* where lending would gain nothing, and between
                                 two times that this is judged */
#define THREADS_MAX 256u /* beyond its CPUs: further ones are left alone */
#define NO_CPU      METER_CPUS
#define SHARED      UINT32_MAX

_Static_assert(METER_CPUS <= CPU_SETSIZE, "a set holds all");

/* A thread beyond the rank's CPUs. */
struct mover {
    _Atomic int tid; /* 0: there was none; theirs, as is_busy */
    _Atomic int is_busy;
    uint32_t cpu;   /* borrowed; or NO_CPU */
    int64_t cpu_ns; /* of the thread, when this was last counted */
    cpu_set_t own;  /* what it may use else */
};

static struct meter_page *page;
static uint32_t self; /* number of the rank, from 1 on */
static unsigned own_cpus;
static _Atomic int is_on;
static _Thread_local
    __attribute__((tls_model("initial-exec"))) struct mover *mine;

/* What follows is the looking thread's. */
static struct mover mover[THREADS_MAX];
static struct lending_cpu cpu[METER_CPUS];
static cpu_set_t refused; /* by the kernel: of no use to us */
static uint64_t borrowed_ns, lent_ns;
static int is_worth;
static int has_made_yield;

int lend_is_on(void)
{
    return atomic_load_explicit(&is_on, memory_order_relaxed);
}

void lend_thread(unsigned number)
{
    mine = NULL;
    if (number < own_cpus || number - own_cpus >= THREADS_MAX)
        return;
    mine = &mover[number - own_cpus];
    atomic_store_explicit(&mine->tid, (int)syscall(SYS_gettid),
                          memory_order_relaxed);
    atomic_store_explicit(&mine->is_busy, 1, memory_order_release);
}

void lend_busy(int is_busy)
{
    if (mine)
        atomic_store_explicit(&mine->is_busy, is_busy, memory_order_release);
}

/* --- the page ------------------------------------------------------------- */

static int is_alive(uint32_t rank)
{
    return rank > 0 && rank <= METER_SLOTS
           && atomic_load_explicit(&page->slot[rank - 1].owner,
                                   memory_order_relaxed)
                  != 0;
}

static int64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail for this clock */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* CPU time of a thread of this process; 0: it has gone.  The number of its clock
 * is made as the kernel's ABI has it (posix-timers.h). */
static int64_t cpu_time(int tid)
{
    struct timespec t;

    if (clock_gettime((clockid_t)((~(unsigned)tid << 3) | 6), &t) != 0)
        return 0;
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int has_waited(uint32_t rank, int64_t now)
{
    const struct meter_rank *r = &page->rank[rank - 1];

    return atomic_load_explicit(&r->is_waiting, memory_order_relaxed)
           && now
                      - (int64_t)atomic_load_explicit(&r->since_ns,
                                                      memory_order_relaxed)
                  >= LENDING_IDLE_NS;
}

static void look_at_cpus(int64_t now)
{
    for (uint32_t i = 0; i < METER_CPUS; i++) {
        uint32_t owner =
            atomic_load_explicit(&page->cpu[i].owner, memory_order_relaxed);
        uint32_t borrower =
            atomic_load_explicit(&page->cpu[i].borrower, memory_order_relaxed);

        cpu[i] = (struct lending_cpu){.owner = is_alive(owner) ? owner : 0};
        cpu[i].borrower = is_alive(borrower) ? borrower : 0;
        cpu[i].is_idle = cpu[i].owner != 0 && !CPU_ISSET(i, &refused)
                         && has_waited(owner, now);
    }
}

static size_t count_hungry(void)
{
    uint32_t slots = meter_page_slots(page);
    size_t n = 0;

    for (uint32_t i = 0; i < slots; i++)
        if (is_alive(i + 1)
            && atomic_load_explicit(&page->rank[i].wants, memory_order_relaxed)
                   > 0)
            n++;
    return n;
}

/* One of a rank that has ended is free. */
static int claim(uint32_t i)
{
    uint32_t before = atomic_load(&page->cpu[i].borrower);

    return !is_alive(before)
           && atomic_compare_exchange_strong(&page->cpu[i].borrower, &before,
                                             self);
}

static void enter_own(const cpu_set_t *own)
{
    for (uint32_t i = 0; i < METER_CPUS; i++) {
        _Atomic uint32_t *at = &page->cpu[i].owner;
        uint32_t before = atomic_load(at), ours = self;

        (void)atomic_compare_exchange_strong(&page->cpu[i].borrower, &ours, 0);
        if (!CPU_ISSET(i, own)) {
            if (before == self) /* of one before us in our place */
                atomic_store(at, 0);
            continue;
        }
        while (!atomic_compare_exchange_weak(
            at, &before,
            before == SHARED || (before != self && is_alive(before)) ? SHARED
                                                                     : self))
            ;
    }
}

/* --- threads -------------------------------------------------------------- */

/* Is the thread there still?  Its number may be another process's by now. */
static int is_there(int tid)
{
    return tid > 0 && syscall(SYS_tgkill, getpid(), tid, 0) == 0;
}

/* What it has had of the borrowed CPU since that was counted last. */
static void count_borrowed(struct mover *m)
{
    int64_t cpu_ns = cpu_time(atomic_load(&m->tid));

    if (cpu_ns > m->cpu_ns)
        borrowed_ns += (uint64_t)(cpu_ns - m->cpu_ns);
    m->cpu_ns = cpu_ns;
    atomic_store_explicit(&page->rank[self - 1].borrowed_ns, borrowed_ns,
                          memory_order_relaxed);
}

static void give_back(struct mover *m)
{
    int tid = atomic_load(&m->tid);

    if (m->cpu == NO_CPU)
        return;
    count_borrowed(m);
    if (is_there(tid))
        (void)sched_setaffinity(tid, sizeof m->own, &m->own);
    atomic_store(&page->cpu[m->cpu].borrower, 0);
    m->cpu = NO_CPU;
}

static void give_back_all(void)
{
    for (unsigned k = 0; k < THREADS_MAX; k++)
        give_back(&mover[k]);
}

static void borrow(struct mover *m, uint32_t i)
{
    int tid = atomic_load(&m->tid);
    cpu_set_t there;

    if (!is_there(tid) || sched_getaffinity(tid, sizeof m->own, &m->own) < 0
        || !claim(i))
        return;
    CPU_ZERO(&there);
    CPU_SET(i, &there);
    if (sched_setaffinity(tid, sizeof there, &there) == 0) {
        m->cpu = i;
        m->cpu_ns = cpu_time(tid);
        return;
    }
    CPU_SET(i, &refused);
    atomic_store(&page->cpu[i].borrower, 0);
}

static int is_chosen(uint32_t i, const uint32_t chosen[], size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (chosen[k] == i)
            return 1;
    return 0;
}

static size_t count_busy(void)
{
    size_t n = 0;

    for (unsigned k = 0; k < THREADS_MAX; k++) {
        if (mover[k].cpu != NO_CPU)
            count_borrowed(&mover[k]);
        if (atomic_load_explicit(&mover[k].is_busy, memory_order_acquire))
            n++;
        else
            give_back(&mover[k]);
    }
    return n;
}

/* Each CPU that nobody of us has yet goes to a busy thread that has none. */
static void hand_out(const uint32_t chosen[], size_t n)
{
    unsigned k = 0;

    for (size_t i = 0; i < n; i++) {
        if (cpu[chosen[i]].borrower == self)
            continue;
        while (k < THREADS_MAX
               && (mover[k].cpu != NO_CPU || !atomic_load(&mover[k].is_busy)))
            k++;
        if (k < THREADS_MAX)
            borrow(&mover[k], chosen[i]);
    }
}

/* For so long others have had its CPUs. */
static void count_lent(const cpu_set_t *own, int64_t ns)
{
    for (uint32_t i = 0; i < METER_CPUS; i++)
        if (CPU_ISSET(i, own)
            && is_alive(atomic_load_explicit(&page->cpu[i].borrower,
                                             memory_order_relaxed)))
            lent_ns += (uint64_t)ns;
    atomic_store_explicit(&page->rank[self - 1].lent_ns, lent_ns,
                          memory_order_relaxed);
}

static void look(void)
{
    uint32_t chosen[THREADS_MAX];
    size_t want = is_worth ? count_busy() : 0, n;

    atomic_store_explicit(&page->rank[self - 1].wants, (uint32_t)want,
                          memory_order_relaxed);
    if (want == 0) {
        give_back_all();
        return;
    }
    look_at_cpus(now_ns());
    n = lending_choose(cpu, METER_CPUS, self, want, count_hungry(), chosen);
    for (unsigned k = 0; k < THREADS_MAX; k++)
        if (mover[k].cpu != NO_CPU && !is_chosen(mover[k].cpu, chosen, n))
            give_back(&mover[k]);
    hand_out(chosen, n);
}

/* --- who waits ------------------------------------------------------------ */

/* Open MPI's ranks spin while they wait, and so keep half of the CPU that they
 * lend, unless they are to yield; which costs those a little that have nothing to
 * lend.  A user's own wish to yield is not touched. */
static void make_yield(int wanted)
{
    typedef void yield_fn(_Bool is_on);
    static yield_fn *set;
    static const _Bool *is_set;

    if (wanted == has_made_yield)
        return;
    if (!set) {
        set = (yield_fn *)mpi_real_next("opal_progress_set_yield_when_idle");
        is_set = (const _Bool *)mpi_real_next("opal_progress_yield_when_idle");
    }
    if (!set || !is_set || *is_set == wanted)
        return;
    set((_Bool)wanted);
    has_made_yield = wanted;
}

/* --- start and end -------------------------------------------------------- */

/* Every now and then. */
static void judge(int64_t now)
{
    static int64_t judged_ns;
    static uint64_t before;
    uint64_t regions = atomic_load_explicit(&page->rank[self - 1].regions,
                                            memory_order_relaxed);

    if (now - judged_ns < REST_NS)
        return;
    is_worth =
        judged_ns > 0 && lending_is_worth(regions - before, now - judged_ns);
    judged_ns = now;
    before = regions;
}

static void *run(void *arg)
{
    struct timespec pause = {0};
    int64_t now = now_ns(), before = now;

    for (; lend_is_on(); before = now) {
        now = now_ns();
        judge(now);
        look();
        count_lent(arg, now - before);
        make_yield(is_worth && (has_made_yield || count_hungry() > 0));
        pause.tv_nsec = is_worth ? LOOK_NS : REST_NS;
        (void)nanosleep(&pause, NULL);
    }
    give_back_all();
    make_yield(0);
    return NULL;
}

/* The program's signals are none of its business. */
static int start_thread(cpu_set_t *own)
{
    sigset_t all, before;
    pthread_t thread;
    int rc;

    (void)sigfillset(&all);
    if (!pthread_create || pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return -1;
    rc = pthread_create(&thread, NULL, run, own);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0)
        (void)pthread_detach(thread);
    return rc;
}

void lend_start(struct meter_page *p, uint32_t slot)
{
    const char *asked = getenv("EVENSTEP_LEND");
    static cpu_set_t own;

    if (!asked || asked[0] != '1' || sched_getaffinity(0, sizeof own, &own) < 0)
        return;
    page = p;
    self = slot + 1;
    own_cpus = (unsigned)CPU_COUNT(&own);
    CPU_ZERO(&refused);
    for (unsigned k = 0; k < THREADS_MAX; k++)
        mover[k].cpu = NO_CPU;
    enter_own(&own);
    atomic_store(&is_on, 1);
    if (start_thread(&own) != 0)
        atomic_store(&is_on, 0);
}

void lend_stop(void)
{
    atomic_store(&is_on, 0);
}
