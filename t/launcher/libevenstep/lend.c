/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread moves to the CPU of a rank that waits, and back.  The other ranks are
 * what we write into the page. */
#include "launcher/libevenstep/lend.h"
#include "tap.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER_OF_SEVERAL UINT32_MAX
#define PATIENCE         20000 /* ms */

static struct meter_page *page;
static _Atomic int step; /* of the thread: 1 borrowed, 2 back, 3 alone */

static void pin(unsigned cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) < 0)
        bail("cannot be pinned to CPU %u", cpu);
}

static int is_on_cpu(unsigned cpu)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_ISSET(cpu, &set)
           && CPU_COUNT(&set) == 1;
}

static int comes_to(unsigned cpu)
{
    for (int ms = 0; ms < PATIENCE && !is_on_cpu(cpu); ms++)
        usleep(1000);
    return is_on_cpu(cpu);
}

static void others_wait(uint32_t rank, uint32_t is_waiting)
{
    page->slot[rank - 1].owner = 1;
    page->rank[rank - 1].since_ns = 1;
    page->rank[rank - 1].is_waiting = is_waiting;
    page->high = rank;
}

static void *be_second(void *arg)
{
    (void)arg;
    lend_thread(1);
    step = comes_to(1) ? 1 : -1;
    while (step == 1)
        usleep(1000);
    step = step == 2 && comes_to(0) ? 3 : -2;
    while (step == 3)
        usleep(1000);
    lend_thread(0);
    lend_busy(1);
    return NULL;
}

static int becomes(int wanted)
{
    for (int ms = 0; ms < 2 * PATIENCE && step != wanted && step >= 0; ms++)
        usleep(1000);
    return step == wanted;
}

static int is_given_back(void)
{
    for (int ms = 0; ms < PATIENCE && page->cpu[1].borrower != 0; ms++)
        usleep(1000);
    return page->cpu[1].borrower == 0;
}

static void test_bad_page(void)
{
    for (uint32_t i = 2; i < METER_CPUS; i++) {
        page->cpu[i].owner = METER_SLOTS + i;
        page->cpu[i].borrower = UINT32_MAX - i;
    }
    page->cpu[2].owner = 3; /* nobody is there */
    page->cpu[3].owner = OTHER_OF_SEVERAL;
}

static void test_borrow(void)
{
    pthread_t thread;

    page->slot[0].owner = (uint32_t)getpid();
    others_wait(2, 1);
    page->cpu[1].owner = 2;
    lend_start(page, 0);
    ok(!lend_is_on(), "unless it is asked for, nothing is lent");
    (void)setenv("EVENSTEP_LEND", "1", 1);
    lend_start(page, 0);
    ok(lend_is_on() && page->cpu[0].owner == 1, "a rank enters its CPU");
    if (pthread_create(&thread, NULL, be_second, NULL) != 0)
        bail("no thread");
    ok(becomes(1), "its second thread moves to the one whose rank waits");
    ok(page->cpu[1].borrower == 1 && page->rank[0].wants == 1, "and says so");
    others_wait(2, 0);
    step = 2;
    ok(becomes(3), "it is back when that rank goes on");
    ok(is_given_back(), "and so is the CPU");
    step = 4;
    (void)pthread_join(thread, NULL);
    ok(is_on_cpu(0), "the first thread has stayed");
    lend_stop();
    ok(!lend_is_on(), "stopped");
}

/* In a child: a process is one rank. */
static void test_shared(void)
{
    int status = -1;
    pid_t pid;

    page->slot[0].owner = (uint32_t)getpid();
    others_wait(2, 0);
    page->cpu[0].owner = 2;
    pid = fork();
    if (pid == 0) {
        (void)setenv("EVENSTEP_LEND", "1", 1);
        lend_start(page, 0);
        _exit(lend_is_on() ? 0 : 1);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        bail("no child");
    ok(status == 0 && page->cpu[0].owner == OTHER_OF_SEVERAL,
       "a CPU of two ranks is neither's");
    page->cpu[0].owner = 0;
}

int main(void)
{
    cpu_set_t set;
    int fd;

    if (sched_getaffinity(0, sizeof set, &set) < 0 || !CPU_ISSET(0, &set)
        || !CPU_ISSET(1, &set))
        skip_all("there are not two CPUs");
    (void)unsetenv("EVENSTEP_LEND");
    page = meter_page_create(&fd);
    if (!page)
        bail("no page");
    pin(0);
    test_bad_page();
    test_shared();
    test_borrow();
    return done();
}
