/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The balancer within a node, on a page that is written here: two ranks whose
 * useful time follows from the limits that it gives them.
 */
#include "launcher/agent/node_balance.h"
#include "tap.h"

#include <event2/event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_S  20
#define LIMIT   800000
#define PERIOD  2000 /* microseconds that a region takes here */
#define REGIONS 300  /* in which nothing may happen */

static struct event_base *base;
static struct event *timer;
static struct meter_page *page;
static struct node_balance *b;
static struct node_parts parts;
static double work[2]; /* of the ranks, CPU microseconds a region */
static uint64_t given[2], node_limit;
static unsigned orders, regions, wrong;
static int fails; /* orders have no success */
static int (*holds)(void);

static void on_order(void *arg, uint64_t limit, const uint64_t part[], size_t n)
{
    (void)arg;
    orders++;
    wrong += limit != node_limit || (n != 0 && n != 2)
             || (n == 2 && part[0] + part[1] != limit);
    for (size_t i = 0; i < 2 && !fails; i++)
        given[i] = n == 2 ? part[i] : limit / 2;
}

/* What was told of threads: how often, and of how many the last time. */
static unsigned told_times;
static size_t told;
static pid_t told_of[PART_TASKS_MAX];

static void on_threads(void *arg, const pid_t thread[], size_t n)
{
    (void)arg;
    told_times++;
    told = n;
    for (size_t i = 0; i < n; i++)
        told_of[i] = thread[i];
}

static int has_told(void)
{
    return told_times > 0;
}

/* Is an order not answered yet? */
static unsigned answered;

static void end_region(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    if (answered < orders) {
        answered++;
        ok(node_balance_answered(b, !fails), "it was its own order");
    }
    regions++;
    for (size_t i = 0; i < 2; i++) {
        struct meter_rank *r = &page->rank[i];
        uint64_t n = atomic_load(&r->regions);
        double ns = work[i] / (double)given[i] * 1e9;

        atomic_store(&r->ring[n % METER_RING].useful_ns, (uint64_t)ns);
        atomic_fetch_add(&r->useful_ns, (uint64_t)ns);
        atomic_store(&r->regions, n + 1);
        atomic_fetch_add(&page->slot[i].regions, 1);
    }
    if (holds && holds())
        event_base_loopbreak(base);
}

static int wait_for(int (*fact)(void))
{
    struct timeval tv = {WAIT_S, 0};

    holds = fact;
    (void)event_base_loopexit(base, &tv);
    (void)event_base_dispatch(base);
    holds = NULL;
    return fact();
}

static int is_balanced(void)
{
    double part = (double)given[1] / LIMIT;

    return part > 0.58 && part < 0.65;
}

static int has_failed(void)
{
    return answered == 3;
}

static int has_passed(void)
{
    return regions >= REGIONS;
}

/* --- the ranks ------------------------------------------------------------ */

/* A task, and its child that is the rank. */
static pid_t start_task(pid_t *rank)
{
    int tell[2];
    pid_t pid;

    if (pipe(tell) < 0)
        bail("no pipe");
    pid = fork();
    if (pid == 0) {
        pid_t own = fork();

        if (own == 0)
            for (;;)
                pause();
        if (write(tell[1], &own, sizeof own) != sizeof own)
            _exit(1);
        (void)waitpid(own, NULL, 0);
        _exit(0);
    }
    if (pid < 0 || read(tell[0], rank, sizeof *rank) != sizeof *rank)
        bail("no task");
    close(tell[0]);
    close(tell[1]);
    return pid;
}

static void begin(double a, double c)
{
    orders = answered = regions = 0;
    fails = 0;
    work[0] = a;
    work[1] = c;
    given[0] = given[1] = LIMIT / 2;
    node_limit = LIMIT;
    b = node_balance_start(base, page, 1, on_order, NULL);
    if (!b)
        bail("no balancer");
    node_balance_lowest(b, 0.2);
}

static size_t limit(uint64_t l, uint64_t part[PARTS_MAX])
{
    size_t n;

    node_limit = l;
    n = node_balance_limit(b, l, part);
    is_int(node_balance_answered(b, 1), 0, "an order of the front end");
    return n;
}

static void test_uneven(void)
{
    uint64_t part[PARTS_MAX];

    begin(50000, 80000);
    is_int((int)limit(LIMIT, part), 0, "at first the node has a limit");
    node_balance_parts(b, &parts);
    ok(wait_for(is_balanced), "the slow rank is given more");
    is_int((int)limit(LIMIT / 2, part), 2, "half of it for the node");
    ok(part[0] + part[1] == LIMIT / 2 && part[1] > part[0],
       "is divided in that proportion");
    is_int((int)limit(100001, part), 0, "less than the floors is not");
    is_int((int)limit(0, part), 0, "nor is none");
    is_int((int)wrong, 0, "no sum was another than the node's limit");
    node_balance_stop(b);
}

static void test_even(void)
{
    uint64_t part[PARTS_MAX];

    begin(50000, 50200);
    (void)limit(LIMIT, part);
    node_balance_parts(b, &parts);
    ok(wait_for(has_passed) && orders == 0, "ranks that are alike are left");
    node_balance_stop(b);
}

static void test_failure(void)
{
    uint64_t part[PARTS_MAX];

    begin(50000, 80000);
    fails = 1;
    (void)limit(LIMIT, part);
    node_balance_parts(b, &parts);
    ok(wait_for(has_failed), "orders fail");
    regions = 0;
    ok(wait_for(has_passed) && orders == 3, "after three it is left alone");
    node_balance_stop(b);
}

static void test_others(void)
{
    static const struct node_parts none;
    uint64_t part[PARTS_MAX];

    begin(50000, 80000);
    (void)limit(LIMIT, part);
    node_balance_parts(b, &none);
    ok(wait_for(has_passed) && orders == 0, "no parts: nothing is divided");
    regions = 0;
    parts.task[0].pid = getpid() == 2 ? 3 : 2; /* not a task of ours */
    node_balance_parts(b, &parts);
    ok(wait_for(has_passed) && orders == 0,
       "a rank that is in no task: nothing is divided");
    node_balance_stop(b);
}

/* Both slots are of one process, by threads of these ids. */
static void own_slots(uint32_t owner0, uint32_t owner1, uint32_t thread1)
{
    atomic_store(&page->slot[0].owner, owner0);
    atomic_store(&page->slot[0].thread, owner0);
    atomic_store(&page->slot[1].owner, owner1);
    atomic_store(&page->slot[1].thread, thread1);
}

static void test_threads(void)
{
    static const struct node_parts none;
    const uint32_t self = (uint32_t)getpid(), other = 0x7ffffff0;
    uint64_t part[PARTS_MAX];

    own_slots(self, self, other);
    begin(50000, 80000);
    node_balance_threads(b, on_threads);
    (void)limit(LIMIT, part);
    node_balance_parts(b, &none);
    ok(wait_for(has_told) && told == 2 && told_of[0] == (pid_t)self
           && told_of[1] == (pid_t)other && orders == 0,
       "threads of a rank are told of");
    parts.task[0].pid = (pid_t)self;
    parts.task[1].pid = (pid_t)other;
    told_times = 0;
    node_balance_parts(b, &parts);
    ok(wait_for(is_balanced) && told_times == 0,
       "when they are parts, the slow one is given more");
    node_balance_stop(b);
    own_slots(self, other, other);
    begin(50000, 80000);
    node_balance_threads(b, on_threads);
    (void)limit(LIMIT, part);
    node_balance_parts(b, &none);
    ok(wait_for(has_passed) && told_times == 0,
       "ranks of one thread each are not");
    node_balance_stop(b);
}

/* --- a team --------------------------------------------------------------- */

static pthread_barrier_t at_end;

static void *be_thread(void *arg)
{
    *(_Atomic uint32_t *)arg = (uint32_t)syscall(SYS_gettid);
    (void)pthread_barrier_wait(&at_end);
    return NULL;
}

/* Slot 0 is a rank, 2 and 3 are those of two threads that it has. */
static void end_team_region(evutil_socket_t fd, short what, void *arg)
{
    uint64_t n = atomic_fetch_add(&page->rank[0].regions, 1) + 1;

    (void)fd;
    (void)what;
    (void)arg;
    if (answered < orders) {
        answered++;
        (void)node_balance_answered(b, 1);
    }
    regions++;
    for (size_t i = 0; i < 2; i++) {
        struct meter_rank *r = &page->rank[2 + i];
        uint64_t ns = (uint64_t)(work[i] / (double)given[i] * 1e9);

        atomic_fetch_add(&r->useful_ns, ns);
        atomic_store(&r->ended_ns, atomic_load(&r->useful_ns));
        atomic_store(&r->regions, n);
    }
    if (holds && holds())
        event_base_loopbreak(base);
}

static int pin(uint32_t thread, unsigned from, unsigned n)
{
    cpu_set_t all, some;

    CPU_ZERO(&some);
    if (sched_getaffinity(0, sizeof all, &all) < 0)
        return -1;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && from > 0)
            from--;
        else if (CPU_ISSET(cpu, &all) && n > 0 && n--)
            CPU_SET(cpu, &some);
    return sched_setaffinity((pid_t)thread, sizeof some, &some);
}

static void make_team(const uint32_t thread[2])
{
    for (uint32_t i = 0; i < 2; i++) {
        atomic_store(&page->slot[2 + i].owner, (uint32_t)getpid());
        atomic_store(&page->slot[2 + i].thread, thread[i]);
        atomic_store(&page->rank[2 + i].leader, 1);
    }
    atomic_store(&page->slot[1].owner, 0);
    atomic_store(&page->rank[1].size, 0);
    atomic_store(&page->slot[0].owner, (uint32_t)getpid());
    atomic_store(&page->slot[0].thread, thread[0]);
    atomic_store(&page->high, 4);
}

static void begin_team(void)
{
    static const struct node_parts none;
    uint64_t part[PARTS_MAX];

    told_times = 0;
    begin(50000, 80000);
    node_balance_threads(b, on_threads);
    (void)limit(LIMIT, part);
    node_balance_parts(b, &none);
}

static int is_told_of_none(void)
{
    return told_times > 0 && told == 0;
}

static void divide_team(const uint32_t thread[2])
{
    begin_team();
    ok(wait_for(has_told) && told == 2 && told_of[0] == (pid_t)thread[0]
           && told_of[1] == (pid_t)thread[1] && orders == 0,
       "pinned threads of a team are told of, and not their rank");
    for (size_t i = 0; i < 2; i++)
        parts.task[i].pid = (pid_t)thread[i];
    told_times = 0;
    node_balance_parts(b, &parts);
    ok(wait_for(is_balanced) && told_times == 0,
       "when they are parts, the slow one is given more");
    is_int((int)wrong, 0, "no sum was another than the node's limit");
}

static void test_team(const uint32_t thread[2])
{
    begin_team();
    ok(wait_for(has_passed) && told_times == 0 && orders == 0,
       "threads of a team that share CPUs are left");
    node_balance_stop(b);
    if (pin(thread[1], 1, 1) < 0 || pin(thread[0], 0, 1) < 0) {
        skip("pinned threads", "two CPUs are needed");
        return;
    }
    divide_team(thread);
    atomic_store(&page->rank[2].leader, 0);
    atomic_store(&page->rank[3].leader, 0);
    ok(wait_for(is_told_of_none), "none is told any more: they are given up");
    node_balance_stop(b);
}

static void run_team(void)
{
    const struct timeval period = {0, PERIOD};
    struct event *other;
    static _Atomic uint32_t tid;
    uint32_t thread[2] = {(uint32_t)getpid(), 0};
    cpu_set_t before;
    pthread_t id;

    event_free(timer);
    timer = NULL;
    other = event_new(base, -1, EV_PERSIST, end_team_region, NULL);
    if (!other || event_add(other, &period) < 0
        || sched_getaffinity(0, sizeof before, &before) < 0
        || pthread_barrier_init(&at_end, NULL, 2) != 0
        || pthread_create(&id, NULL, be_thread, (void *)&tid) != 0)
        bail("no thread");
    while (atomic_load(&tid) == 0)
        (void)usleep(1000);
    thread[1] = atomic_load(&tid);
    make_team(thread);
    test_team(thread);
    (void)pthread_barrier_wait(&at_end);
    (void)pthread_join(id, NULL);
    (void)sched_setaffinity(0, sizeof before, &before);
    event_free(other);
}

int main(void)
{
    const struct timeval period = {0, PERIOD};
    pid_t rank = 0, task = start_task(&rank);
    int fd;

    base = event_base_new();
    page = meter_page_create(&fd);
    timer = base ? event_new(base, -1, EV_PERSIST, end_region, NULL) : NULL;
    if (!page || !timer || event_add(timer, &period) < 0)
        bail("no page");
    parts.rule =
        (struct power_rule){POWER_PAIR, POWER_BOUND, POWER_BAND, POWER_GAIN};
    parts.n = parts.tasks = 2;
    for (size_t i = 0; i < 2; i++) {
        parts.part[i] = (struct power_part){100000, LIMIT, 0};
        parts.task[i].pid = i == 0 ? getpid() : task;
        parts.task[i].part = (uint32_t)i;
        atomic_store(&page->rank[i].size, 2);
        atomic_store(&page->rank[i].rank, (uint32_t)i);
        atomic_store(&page->slot[i].owner,
                     (uint32_t)(i == 0 ? getpid() : rank));
        atomic_store(&page->slot[i].regions, 1);
    }
    atomic_store(&page->high, 2);
    test_uneven();
    test_even();
    test_failure();
    test_others();
    test_threads();
    run_team();
    (void)kill(rank, SIGKILL);
    (void)waitpid(task, NULL, 0);
    event_base_free(base);
    meter_page_destroy(page);
    close(fd);
    done();
}
