/* SPDX-License-Identifier: BSD-2-Clause */
/* The monitor and programs that leave their progress for it. */
#include "launcher/agent/monitor.h"
#include "launcher/base/step_dir.h"
#include "launcher/libevenstep/meter_page.h"
#include "pmix_bcast/clock.h"
#include "tap.h"

#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define WAIT_S 20

static struct event_base *base;
static struct msg_progress last;
static unsigned records;
static int (*holds)(void); /* what is waited for */
static struct meter_page *page;
static struct msg_monitor order = {.interval_ms = 1};

static void on_record(void *arg, const struct msg_progress *record)
{
    (void)arg;
    records++;
    last = *record;
    if (holds && holds())
        event_base_loopbreak(base);
}

/* Run the loop until a record makes it hold. */
static int wait_for(int (*fact)(void))
{
    struct timeval tv = {WAIT_S, 0};
    int timed_out;

    holds = fact;
    (void)event_base_loopexit(base, &tv);
    (void)event_base_dispatch(base);
    timed_out = !fact();
    holds = NULL;
    return !timed_out;
}

/* The page as a program sees it: by the link in its step directory. */
static void map_page(void)
{
    char path[STEP_PATH_MAX];
    int fd = -1;

    if (step_dir_path(path, order.dir, METER_FILE) == 0)
        fd = open(path, O_RDWR | O_CLOEXEC);
    page = fd < 0 ? MAP_FAILED
                  : mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED,
                         fd, 0);
    if (page == MAP_FAILED)
        bail("no page at %s", path);
    close(fd);
}

static struct monitor *start(enum aggregate how)
{
    struct es_error err = {0};
    struct monitor *m;

    snprintf(order.dir, sizeof order.dir, "monitor-%d", (int)getpid());
    order.aggregate = how;
    m = monitor_start(base, &order, on_record, NULL, &err);
    if (!m)
        bail("%s: %s", err.what, err.mend);
    map_page();
    memset(&last, 0, sizeof last);
    records = 0;
    return m;
}

static void stop(struct monitor *m)
{
    (void)munmap(page, sizeof *page);
    monitor_stop(m);
    step_dir_remove(order.dir);
}

/* A thread of process pid, in its first region. */
static void begin(uint32_t slot, pid_t pid, uint64_t total)
{
    page->slot[slot].total = total;
    page->slot[slot].done = 0;
    page->slot[slot].regions = 1;
    page->slot[slot].owner = (uint32_t)pid;
    if (page->high < slot + 1)
        page->high = slot + 1;
}

static int two_are_there(void)
{
    return last.slots == 2;
}
static int one_is_there(void)
{
    return last.slots == 1;
}
static int least_is_quarter(void)
{
    return last.progress >= 0.25 && last.progress < 0.26;
}
static int mean_is_half(void)
{
    return last.progress >= 0.5 && last.progress < 0.51;
}
static int misuse_is_seven(void)
{
    return last.misuse == 7;
}

static void test_least(void)
{
    struct monitor *m = start(AGGREGATE_MIN);

    begin(0, getpid(), 100);
    begin(1, getpid(), 100);
    ok(wait_for(two_are_there), "two threads come");
    page->slot[0].done = 75;
    page->slot[1].done = 25;
    ok(wait_for(least_is_quarter), "the slowest stands for the node");
    ok(last.skew > 0 && last.work_ns > 0, "there is a skew, and work");
    page->slot[1].early = 7;
    page->slot[1].done = 26;
    ok(wait_for(misuse_is_seven), "misuse is told");
    stop(m);
}

static void test_mean(void)
{
    struct monitor *m = start(AGGREGATE_MEAN);

    begin(0, getpid(), 100);
    begin(1, getpid(), 100);
    ok(wait_for(two_are_there), "two threads come");
    page->slot[0].done = 75;
    page->slot[1].done = 25;
    ok(wait_for(mean_is_half), "or their mean does");
    stop(m);
}

/* One that is killed in a region leaves its slot taken. */
static void test_dead(void)
{
    struct monitor *m = start(AGGREGATE_MIN);
    uint32_t epoch;
    pid_t pid = fork();

    if (pid == 0)
        for (;;)
            (void)pause();
    begin(0, getpid(), 100);
    begin(1, pid, 100);
    ok(wait_for(two_are_there), "a second process comes");
    epoch = last.epoch;
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    ok(wait_for(one_is_there), "and dies: its slot is free again");
    ok(last.epoch != epoch && page->slot[1].owner == 0,
       "the sums begin anew without it");
    stop(m);
}

static int half_is_done(void)
{
    return last.progress >= 0.5;
}
static int one_and_a_half(void)
{
    return last.progress >= 1.5 - 1e-9;
}

/* Two commands, one after the other, half of whose regions is seen. */
static void test_succession(void)
{
    struct monitor *m = start(AGGREGATE_MIN);
    uint64_t work_ns;
    uint32_t epoch;
    pid_t pid = fork();

    if (pid == 0)
        for (;;)
            (void)pause();
    begin(0, pid, 100);
    ok(wait_for(one_is_there), "a command comes");
    page->slot[0].done = 50;
    ok(wait_for(half_is_done), "and does half of its work");
    page->slot[0].done = 100;
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    monitor_succession(m);
    is_int((int)page->slot[0].owner, 0, "it ends: its slot is free at once");
    epoch = last.epoch;
    work_ns = last.work_ns;
    begin(0, getpid(), 100);
    ok(wait_for(one_is_there), "another one takes the slot");
    page->slot[0].done = 50;
    ok(wait_for(one_and_a_half), "what both have done is added up");
    ok(last.epoch == epoch && last.work_ns >= work_ns, "and so is their time");
    stop(m);
}

/* All that a program can write there. */
static void test_hostile(void)
{
    struct monitor *m = start(AGGREGATE_MEDIAN);
    uint32_t x = 1;

    begin(0, getpid(), 100);
    ok(wait_for(one_is_there), "a thread comes");
    records = 0;
    for (int round = 0; round < 50; round++) {
        struct timeval tv = {0, 2000};
        unsigned char *at = (unsigned char *)page->slot;

        for (size_t i = 0; i < sizeof page->slot; i++)
            at[i] = (unsigned char)((x = x * 1664525u + 1013904223u) >> 24);
        for (uint32_t i = 0; i < METER_SLOTS; i++)
            page->slot[i].owner = (uint32_t)getpid();
        page->high = UINT32_MAX;
        (void)event_base_loopexit(base, &tv);
        (void)event_base_dispatch(base);
    }
    ok(records > 0 && last.slots <= METER_SLOTS && isfinite(last.progress)
           && last.progress >= 0,
       "any bytes are some progress, and no harm");
    stop(m);
}

static void test_quiet(void)
{
    struct monitor *m = start(AGGREGATE_MIN);
    struct timeval tv = {0, 300000};

    begin(0, getpid(), 100);
    ok(wait_for(one_is_there), "a thread comes");
    records = 0;
    (void)event_base_loopexit(base, &tv);
    (void)event_base_dispatch(base);
    is_int((int)records, 0, "while nothing changes nothing is told");
    monitor_advise_threads(m, 5);
    is_int((int)page->threads, 5, "advice on threads is in the page");
    stop(m);
}

/* So many nodes are heard that each may tell of ten samples a second. */
static void test_paced(void)
{
    struct timeval tv = {0, 1000};
    struct monitor *m;
    int64_t from;

    order.record_ms = 100;
    m = start(AGGREGATE_MIN);
    begin(0, getpid(), 1000000);
    ok(wait_for(one_is_there), "a thread comes");
    records = 0;
    from = clock_ns();
    for (uint64_t i = 1; clock_ns() - from < INT64_C(450000000); i++) {
        page->slot[0].done = i;
        (void)event_base_loopexit(base, &tv);
        (void)event_base_dispatch(base);
    }
    ok(records >= 1
           && records <= (unsigned)((clock_ns() - from) / 100000000 + 1),
       "it goes on all the time: %u records in half a second", records);
    page->slot[0].done = 250000;
    ok(wait_for(least_is_quarter), "and what is held back is told later");
    order.record_ms = 0;
    stop(m);
}

int main(void)
{
    base = event_base_new();
    if (!base)
        bail("no event loop");
    test_least();
    test_mean();
    test_dead();
    test_succession();
    test_hostile();
    test_quiet();
    test_paced();
    event_base_free(base);
    return done();
}
