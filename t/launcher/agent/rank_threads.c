/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of a node among its ranks, as these get on. */
#include "launcher/agent/rank_threads.h"
#include "tap.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP_NS INT64_C(10000000)

static struct meter_page *page;
static struct rank_threads *t;
static int64_t now;
static unsigned cpus[8]; /* of process 100 + i */
/* What a slot's thread does, by itself; seconds of a region. */
static struct {
    double alone, done;
    int follows; /* more threads help it */
} at[8];

static unsigned cpus_of(pid_t pid)
{
    return cpus[pid - 100];
}

static void start(uint32_t expected, uint32_t threads)
{
    memset(page, 0, sizeof *page);
    memset(cpus, 0, sizeof cpus);
    memset(at, 0, sizeof at);
    rank_threads_destroy(t);
    t = rank_threads_create(page, cpus_of);
    if (!t)
        bail("no memory");
    rank_threads_expect(t, expected);
    rank_threads_set(t, threads, now);
}

static void come(uint32_t slot, uint32_t pid, double alone)
{
    page->slot[slot].owner = pid;
    page->slot[slot].threads = 0;
    page->slot[slot].total = 1000000;
    page->slot[slot].done = 0;
    page->slot[slot].regions = 1;
    if (page->high <= slot)
        page->high = slot + 1;
    at[slot].alone = alone;
    at[slot].done = 0;
    at[slot].follows = 1;
}

static uint32_t threads_of(uint32_t slot)
{
    uint32_t own = page->slot[slot].threads;

    return own > 0 ? own : page->threads;
}

/* Regions with a barrier behind each: the slowest is waited for. */
static void advance(double seconds)
{
    int is_over = 1;

    for (uint32_t i = 0; i < page->high; i++) {
        double speed = at[i].follows ? threads_of(i) : 1;

        if (at[i].alone > 0 && at[i].done < 1)
            at[i].done += seconds * speed / at[i].alone;
        if (at[i].done > 1)
            at[i].done = 1;
        is_over &= at[i].alone <= 0 || at[i].done >= 1;
    }
    for (uint32_t i = 0; i < page->high; i++) {
        if (is_over && at[i].alone > 0) {
            page->slot[i].regions++;
            at[i].done = 0;
        }
        page->slot[i].done = (uint64_t)(at[i].done * 1e6);
    }
}

static void run(double seconds)
{
    int64_t until = now + (int64_t)(seconds * 1e9);

    while (now < until) {
        now += STEP_NS;
        advance((double)STEP_NS / 1e9);
        rank_threads_look(t, now);
    }
}

static void test_even(void)
{
    start(2, 8);
    is_int((int)page->threads, 4, "of two that are expected each has half");
    come(0, 100, 0.4);
    run(0.05);
    is_int((int)threads_of(0), 4, "also who comes first");
    come(1, 101, 0.4);
    run(8);
    ok(threads_of(0) == 4 && threads_of(1) == 4, "equal work: nothing moves");
    start(0, 8);
    is_int((int)page->threads, 8, "nobody knows of any: a rank has all");
    come(0, 100, 0.4);
    run(0.05);
    is_int((int)threads_of(0), 8, "one alone has all");
    come(1, 101, 0.4);
    run(0.05);
    ok(threads_of(0) == 4 && threads_of(1) == 4, "two have half each");
}

static void test_uneven(void)
{
    start(2, 8);
    come(0, 100, 0.3);
    come(1, 101, 0.9);
    run(10);
    ok(threads_of(0) == 2 && threads_of(1) == 6,
       "three times the work: 2 and 6 threads (%u, %u)", threads_of(0),
       threads_of(1));
    at[0].alone = 0.9;
    at[1].alone = 0.3;
    run(20);
    ok(threads_of(0) == 6 && threads_of(1) == 2,
       "the work changes sides, the threads follow (%u, %u)", threads_of(0),
       threads_of(1));
    rank_threads_set(t, 4, now);
    ok(threads_of(0) + threads_of(1) == 4 && threads_of(0) > threads_of(1),
       "the node has fewer: their sum is that, by what is known");
    rank_threads_set(t, 0, now);
    ok(threads_of(0) == 0 && threads_of(1) == 0, "and then there is no advice");
    page->slot[1].owner = 0;
    at[1].alone = 0;
    rank_threads_set(t, 8, now);
    rank_threads_expect(t, 1);
    run(0.05);
    is_int((int)threads_of(0), 8, "one has gone: the other has all");
}

static void test_deaf(void)
{
    start(2, 8);
    come(0, 100, 2);
    come(1, 101, 1.2);
    at[0].follows = 0;
    run(200);
    ok(1.2 / threads_of(1) < 2,
       "one that does not follow takes no time from the other (%u)",
       threads_of(1));
}

static void test_pinned(void)
{
    start(2, 8);
    cpus[1] = 3;
    come(0, 100, 0.2);
    come(1, 101, 2);
    run(20);
    ok(threads_of(1) == 3 && threads_of(0) == 5,
       "no more threads than CPUs that it is pinned to");
}

/* The rank in slot 0 is metered from outside; a thread of its team has a slot. */
static void test_team(void)
{
    start(2, 8);
    come(0, 100, 0.3);
    come(1, 101, 0.9);
    run(10);
    page->slot[2].owner = 100;
    page->rank[2].leader = 1;
    page->high = 3;
    run(0.05);
    ok(threads_of(0) == 2 && threads_of(1) == 6 && page->slot[2].threads == 0,
       "a thread of a team comes: nothing begins anew (%u, %u)", threads_of(0),
       threads_of(1));
    page->slot[2].owner = 0;
    page->rank[2].leader = 0;
    run(0.05);
    ok(threads_of(0) == 2 && threads_of(1) == 6, "nor when it has gone");
    page->high = 2;
}

/* Threads that tick each for itself, and a slot that tells nothing. */
static void test_threads(void)
{
    start(2, 8);
    come(0, 100, 1);
    come(1, 100, 1);
    come(2, 101, 1);
    at[0].follows = at[1].follows = at[2].follows = 0;
    come(3, 101, 0);
    page->slot[3].regions = 0;
    run(0.05);
    ok(threads_of(0) == 4 && threads_of(1) == 4 && threads_of(2) == 4,
       "threads of one rank are one rank");
    run(20);
    is_int((int)(threads_of(0) + threads_of(2)), 8, "the sum stays");
}

static void test_many(void)
{
    start(0, 2);
    for (uint32_t i = 0; i < 5; i++)
        come(i, 100 + i, 0.3);
    run(0.05);
    ok(threads_of(0) == 1 && threads_of(4) == 1 && page->threads == 1,
       "more ranks than threads: one each");
}

/* As a process of our own has it. */
static void test_cpus(void)
{
    cpu_set_t own, one;
    pid_t child;

    if (sched_getaffinity(0, sizeof own, &own) < 0)
        bail("no CPUs");
    is_int((int)rank_threads_cpus(getpid()), CPU_COUNT(&own),
           "the CPUs that a process may use");
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &own))
            CPU_SET(i, &one);
    child = fork();
    if (child == 0) {
        char name[] = "sleep", time[] = "60", bind[] = "OMP_PROC_BIND=close";
        char *argv[] = {name, time, NULL}, *env[] = {bind, NULL};

        (void)sched_setaffinity(0, sizeof one, &one);
        execve("/bin/sleep", argv, env);
        _exit(1);
    }
    for (int i = 0; i < 1000 && rank_threads_cpus(child) != 0; i++)
        usleep(10000);
    is_int((int)rank_threads_cpus(child), 0,
           "whom OpenMP pins, of whom nothing is known");
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    is_int((int)rank_threads_cpus(child), 0, "nor of one that has ended");
}

int main(void)
{
    page = calloc(1, sizeof *page);
    if (!page)
        bail("no memory");
    now = 1000000000;
    test_even();
    test_uneven();
    test_deaf();
    test_pinned();
    test_team();
    test_threads();
    test_many();
    test_cpus();
    rank_threads_destroy(t);
    rank_threads_destroy(NULL);
    free(page);
    return done();
}
