/* SPDX-License-Identifier: BSD-2-Clause */
/* The slots of a team's threads: what each did, region by region, and when none of
 * them is told any more. */
#include "launcher/libevenstep/team_thread.h"
#include "launcher/libevenstep/meter_writer.h"
#include "tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS   UINT64_C(1000000)
#define RANK 3 /* its slot */

static struct meter_page *page;
static struct meter_thread seen;

static void begin(void)
{
    atomic_store(&page->rank[RANK].regions, 0);
    atomic_store(&page->rank[RANK].waiting_ns, 0);
    atomic_store(&page->rank[RANK].size, 1);
    atomic_store(&page->slot[RANK].owner, 1);
    team_thread_start(page, RANK);
}

static void end_region(void)
{
    (void)atomic_fetch_add(&page->rank[RANK].regions, 1);
}

/* The slot of this thread, or METER_SLOTS. */
static uint32_t own_slot(void)
{
    uint32_t tid = (uint32_t)syscall(SYS_gettid), i = 0;

    while (i < METER_SLOTS && atomic_load(&page->slot[i].thread) != tid)
        i++;
    return i;
}

/* How many are told. */
static unsigned count(void)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < METER_SLOTS; i++)
        n += meter_thread_read(page, i, &seen) == 1;
    return n;
}

static void is_seen(uint64_t regions, uint64_t ms, const char *what)
{
    ok(meter_thread_read(page, own_slot(), &seen) == 1 && seen.leader == RANK
           && seen.regions == regions && seen.useful_ns == ms * MS,
       "%s", what);
}

static void test_regions(void)
{
    begin();
    is_int((int)count(), 0, "without a team nobody is told");
    team_thread_enter(1, 1, 10 * MS);
    ok(own_slot() < METER_SLOTS && count() == 1, "a thread in one has a slot");
    team_thread_wait(15 * MS);
    is_seen(0, 0, "no region has ended");
    team_thread_resume(20 * MS);
    team_thread_wait(21 * MS);
    team_thread_leave();
    end_region();
    is_seen(1, 6, "one has: all that it did was before");
    end_region();
    is_seen(2, 6, "in another it did nothing");
    team_thread_enter(1, 1, 100 * MS);
    is_seen(2, 6, "it goes on");
    team_thread_wait(130 * MS);
    team_thread_leave();
    is_seen(2, 6, "in a third, which has not ended");
    end_region();
    is_seen(3, 36, "and now it has");
    team_thread_wait(200 * MS);
    team_thread_resume(300 * MS);
    team_thread_wait(400 * MS);
    end_region();
    is_seen(4, 36, "what it does in no team does not count");
    team_thread_enter(1, 1, 500 * MS);
    atomic_store(&page->rank[RANK].waiting_ns, 7 * MS);
    team_thread_wait(510 * MS);
    team_thread_leave();
    end_region();
    is_seen(5, 39, "nor does its waiting in MPI");
}

static void *be_other(void *arg)
{
    unsigned *told = arg;

    team_thread_enter(0, 0, 10 * MS);
    team_thread_wait(14 * MS);
    team_thread_leave();
    *told = count();
    return NULL;
}

static unsigned run(void *(*fn)(void *))
{
    pthread_t thread;
    unsigned told = 0;

    if (pthread_create(&thread, NULL, fn, &told) != 0)
        bail("no thread");
    (void)pthread_join(thread, NULL);
    return told;
}

static void test_others(void)
{
    uint32_t high;

    is_int((int)run(be_other), 2, "another thread has another slot");
    is_int((int)count(), 1, "until it ends");
    high = meter_page_slots(page);
    (void)run(be_other);
    is_int((int)meter_page_slots(page), (int)high, "the next one takes it");
}

static void *call_mpi(void *arg)
{
    (void)arg;
    team_thread_enter(0, 0, 10 * MS);
    team_thread_call();
    team_thread_leave();
    return NULL;
}

static void *lead(void *arg)
{
    (void)arg;
    team_thread_enter(0, 1, 10 * MS);
    team_thread_leave();
    return NULL;
}

static void begin_again(void)
{
    begin();
    team_thread_enter(1, 1, 10 * MS);
    team_thread_leave();
    if (count() != 1)
        bail("nobody is told");
}

static void test_stops(void)
{
    begin_again();
    is_seen(0, 0, "of another rank it begins with nothing");
    team_thread_enter(1, 1, 10 * MS);
    team_thread_call();
    is_int((int)count(), 1, "the metered thread may call MPI");
    team_thread_enter(1, 1, 20 * MS);
    is_int((int)count(), 0, "of nested teams nobody is told");
    team_thread_leave();
    team_thread_leave();
    begin_again();
    (void)run(call_mpi);
    is_int((int)count(), 0, "nor where another thread calls MPI");
    begin_again();
    (void)run(lead);
    is_int((int)count(), 0, "nor where one leads a team of its own");
    team_thread_enter(1, 1, 10 * MS);
    team_thread_wait(20 * MS);
    team_thread_leave();
    is_int((int)count(), 0, "for good");
    begin_again();
    team_thread_stop();
    is_int((int)count(), 0, "nor after the end");
}

static void test_full(void)
{
    begin_again();
    for (uint32_t i = 0; i < METER_SLOTS; i++)
        if (atomic_load(&page->slot[i].owner) == 0)
            atomic_store(&page->slot[i].owner, 1);
    (void)run(be_other);
    is_int((int)count(), 0, "not all can be told: then nobody is");
    for (uint32_t i = 0; i < METER_SLOTS; i++)
        if (atomic_load(&page->slot[i].owner) == 1)
            atomic_store(&page->slot[i].owner, 0);
}

static void test_fork(void)
{
    int status = 0;
    pid_t pid;

    begin_again();
    pid = fork();
    if (pid == 0) {
        team_thread_forget();
        team_thread_enter(1, 1, 10 * MS);
        team_thread_wait(90 * MS);
        team_thread_stop();
        pthread_exit(NULL); /* with what a thread does when it ends */
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        bail("no child");
    is_int((int)count(), 1, "a child leaves what is its parent's");
    end_region();
    is_seen(1, 0, "as it was");
}

static void test_trust(void)
{
    struct meter_rank *entry = &page->rank[own_slot()];

    atomic_store(&entry->leader, METER_SLOTS + 1);
    is_int((int)count(), 0, "a leader that no page has is none");
    atomic_store(&entry->leader, RANK + 1);
    atomic_store(&entry->sequence, 1);
    is_int(meter_thread_read(page, own_slot(), &seen), -1,
           "what is being written is not read");
}

int main(void)
{
    int fd;

    page = meter_page_create(&fd);
    if (!page)
        bail("no page");
    test_regions();
    test_others();
    test_stops();
    test_full();
    test_fork();
    test_trust();
    meter_page_destroy(page);
    (void)close(fd);
    return done();
}
