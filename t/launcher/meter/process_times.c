/* SPDX-License-Identifier: BSD-2-Clause */
/* CPU time of processes that end between two looks: counted once, whoever waits
 * for them and whenever they are read. */
#include "launcher/meter/process_times.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define MOST 16

static struct process_times before[MOST], now[MOST];
static size_t m, n;
static uint64_t sum;

static void begin(void)
{
    m = n = 0;
    sum = 0;
}

static void is(pid_t pid, pid_t parent, uint64_t own, uint64_t waited)
{
    now[n++] = (struct process_times){.pid = pid,
                                      .parent = parent,
                                      .start = (uint64_t)pid,
                                      .own = own,
                                      .waited = waited};
}

static void is_other(pid_t pid, pid_t parent, uint64_t own, uint64_t waited)
{
    is(pid, parent, own, waited);
    now[n - 1].task = PROCESS_OTHER;
}

/* Returns the sum of all until now; the next processes are of the next look. */
static long look(void)
{
    qsort(now, n, sizeof *now, process_times_by_pid);
    process_times_count(now, n, before, m);
    for (size_t i = 0; i < n; i++)
        if (now[i].task != PROCESS_OTHER)
            sum += now[i].more;
    memcpy(before, now, sizeof now);
    m = n;
    n = 0;
    return (long)sum;
}

static void test_waited(void)
{
    begin();
    is(10, 1, 5, 0);
    is(11, 10, 20, 0);
    is_int(look(), 25, "a process and its child");
    is(10, 1, 6, 22);
    is_int(look(), 28, "the child has ended, with 2 more than was seen");
    is(10, 1, 7, 30);
    is_int(look(), 37, "one that was never seen counts when it was waited for");
    look();
    is_int(look(), 37, "all have ended: nothing is lost");
}

/* It was read, then its child ended, and then that was to be read. */
static void test_in_the_middle(void)
{
    begin();
    is(10, 1, 5, 0);
    is(11, 10, 100, 0);
    (void)look();
    is(10, 1, 6, 0);
    is_int(look(), 106, "a child ends while it is looked: it does not fall");
    is(10, 1, 7, 101);
    is_int(look(), 108, "nor is it counted again at the next look");
    is(10, 1, 7, 151);
    is_int(look(), 158, "but what comes later is");
}

static void test_nobody(void)
{
    begin();
    is(10, 1, 5, 0);
    is(11, 10, 100, 0);
    (void)look();
    is(10, 1, 6, 0);
    (void)look();
    is(10, 1, 7, 0);
    (void)look();
    is(10, 1, 8, 40);
    is_int(look(), 148, "a child that nobody waited for is in no later one");
    begin();
    is(10, 1, 5, 0);
    is(12, 1, 50, 0);
    (void)look();
    is(10, 1, 6, 30);
    is_int(look(), 86, "an orphan is waited for by none of them");
}

static void test_generations(void)
{
    begin();
    is(10, 1, 1, 0);
    is(11, 10, 10, 0);
    is(12, 11, 100, 0);
    is(13, 12, 1000, 0);
    is_int(look(), 1111, "four generations");
    is(10, 1, 2, 1110);
    is_int(look(), 1112, "three of them end at once: each counts once");
    begin();
    is(10, 1, 1, 0);
    is(11, 10, 10, 0);
    is(12, 11, 100, 0);
    (void)look();
    is(10, 1, 1, 0);
    is(11, 10, 10, 0);
    (void)look();
    is(10, 1, 1, 111);
    is_int(look(), 112, "one ends in the middle of a look, its parent after");
}

static void test_others(void)
{
    begin();
    is(10, 1, 5, 0);
    is_other(11, 10, 100, 0);
    is_int(look(), 5, "one of no task is not counted");
    is(10, 1, 5, 100);
    is_int(look(), 105, "but when the task has waited for it");
    begin();
    is_other(11, 10, 100, 3);
    (void)look();
    is(11, 10, 101, 3);
    is_int(look(), 104, "one that becomes a task's counts whole");
    begin();
    is(10, 1, 5, 0);
    is(20, 1, 5, 0);
    now[1].task = 1;
    is(21, 10, 50, 0);
    now[2].task = 1;
    (void)look();
    is(10, 1, 5, 50);
    is(20, 1, 5, 0);
    now[1].task = 1;
    is_int(look(), 110, "what is another task's is not taken off here");
}

static void test_numbers(void)
{
    begin();
    is(10, 1, 5, 0);
    is(11, 10, 20, 0);
    (void)look();
    is(10, 1, 5, 20);
    is(11, 10, 3, 0);
    now[1].start = 900;
    is_int(look(), 28, "a number that another process has got");
    begin();
    is(12, 30, 5, 0);
    (void)look();
    is(30, 1, 0, 5);
    is_int(look(), 10, "a parent that is younger is none");
}

int main(void)
{
    test_waited();
    test_in_the_middle();
    test_nobody();
    test_generations();
    test_others();
    test_numbers();
    return done();
}
