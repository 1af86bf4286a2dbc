/* SPDX-License-Identifier: BSD-2-Clause */
/* What the guard and the agent say of a node's parts: taken, or refused whole. */
#include "launcher/wire/parts_line.h"
#include "tap.h"

#include <string.h>

static struct node_parts parts, again;

static void test_refused(void)
{
    static const char *const bad[] = {
        "",
        "power cgroup us/s 1 1 1",
        "parts ",
        "parts 0.1 0.1",
        "parts 0.1 0.1 0 1/2/0 :",
        "parts 0.1 0.1 2 1/2/0 :",
        "parts 0.1 x 0.8 1/2/0 :",
        "parts 0.1 0.1 0.8 1/2 :",
        "parts 0.1 0.1 0.8 1/2/0/0 :",
        "parts 0.1 0.1 0.8 0/2/0 :",
        "parts 0.1 0.1 0.8 3/2/0 :",
        "parts 0.1 0.1 0.8 1/2/65537 :",
        "parts 0.1 0.1 0.8 1/9007199254740993/0 :",
        "parts 0.1 0.1 0.8 1/2/0 1/2/1 :",
        "parts 0.1 0.1 0.8 1/2/0 : 1/0",
        "parts 0.1 0.1 0.8 1/2/0 : 10/1",
        "parts 0.1 0.1 0.8 1/2/0 : 10",
        "parts 0.1 0.1 0.8 1/2/0 : 2147483648/0",
        "parts 0.1 0.1 0.8 1/2/0  : 10/0",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(parts_line_read(&parts, bad[i]) < 0 && parts.n == 0
               && parts.tasks == 0,
           "refused: \"%s\"", bad[i]);
}

static void test_taken(void)
{
    char text[4096];

    is_int(parts_line_read(&parts, "parts 0.0002 0.005 0.8 1000/800000/0 "
                                   "1000/400000/0 : 101/0 102/1 103/1"),
           0, "two parts, three tasks");
    ok(parts.n == 2 && parts.tasks == 3 && parts.part[1].most == 400000
           && parts.task[2].pid == 103 && parts.task[2].part == 1
           && parts.rule.variant == POWER_PAIR,
       "as they were said");
    is_int(parts_line_write(&parts, text, sizeof text), 0, "written");
    ok(parts_line_read(&again, text) == 0 && again.n == 2 && again.tasks == 3
           && again.part[0].least == 1000 && again.part[1].most == 400000
           && memcmp(again.task, parts.task, 3 * sizeof *parts.task) == 0
           && again.rule.bound == parts.rule.bound,
       "and read again");
    is_int(parts_line_write(&parts, text, 40), -1, "no room: not cut");
}

/* As many as there may be fit into a packet, and one more is refused. */
static void test_many(void)
{
    static char text[65536];
    size_t len;

    parts.n = PARTS_MAX;
    parts.tasks = PART_TASKS_MAX;
    for (size_t i = 0; i < parts.n; i++)
        parts.part[i] = (struct power_part){POWER_LIMIT_MAX, POWER_LIMIT_MAX,
                                            PART_COUNT_MAX};
    for (size_t i = 0; i < parts.tasks; i++) {
        parts.task[i].pid = INT32_MAX;
        parts.task[i].part = PARTS_MAX - 1;
    }
    is_int(parts_line_write(&parts, text, 32768), 0, "the longest line");
    is_int(parts_line_read(&again, text), 0, "is taken");
    len = strlen(text);
    snprintf(text + len, sizeof text - len, " 10/0");
    is_int(parts_line_read(&again, text), -1, "one task more is not");
}

static void test_orders(void)
{
    static const char *const bad[] = {"", "x", "1 x", "1 -2", "1  2", " 1"};
    static uint64_t part[PARTS_MAX + 1];
    char text[8192];
    uint64_t limit = 0;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        is_int(order_line_read(bad[i], &limit, part), -1, bad[i]);
    ok(order_line_read("70", &limit, part) == 0 && limit == 70,
       "an order for the node");
    ok(order_line_read("70 30 40", &limit, part) == 2 && part[1] == 40,
       "and for its parts");
    ok(order_line_write(text, sizeof text, 70, part, 2) == 8
           && strcmp(text, "70 30 40") == 0,
       "written");
    is_int(order_line_write(text, 8, 70, part, 2), -1, "no room: not cut");
    (void)order_line_write(text, sizeof text, 70, part, PARTS_MAX);
    is_int(order_line_read(text, &limit, part), PARTS_MAX, "as many as may be");
    (void)order_line_write(text, sizeof text, 70, part, PARTS_MAX + 1);
    is_int(order_line_read(text, &limit, part), -1, "one more");
}

static void test_threads(void)
{
    static const char *const bad[] = {"threads",    "threads 1",  "threads x",
                                      "threads 2 ", "threads  2", "70 30"};
    static pid_t thread[PART_TASKS_MAX];
    static char text[16384];
    size_t len;

    /* A blank at the end is no word, and none is no thread. */
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(threads_line_read(bad[i], thread) <= 0 || i == 3, "\"%s\"", bad[i]);
    is_int(threads_line_read("threads 101 2147483647", thread), 2, "two");
    ok(thread[0] == 101 && thread[1] == INT32_MAX, "as they were said");
    is_int(threads_line_read("threads 101 2147483648", thread), -1, "too high");
    for (size_t i = 0; i < PART_TASKS_MAX; i++)
        thread[i] = INT32_MAX;
    ok(threads_line_write(text, sizeof text, thread, PART_TASKS_MAX) > 0
           && threads_line_read(text, thread) == PART_TASKS_MAX,
       "as many as may be");
    len = strlen(text);
    snprintf(text + len, sizeof text - len, " 10");
    is_int(threads_line_read(text, thread), -1, "one more");
    is_int(threads_line_write(text, 10, thread, 2), -1, "no room: not cut");
}

int main(void)
{
    test_refused();
    test_taken();
    test_many();
    test_orders();
    test_threads();
    done();
}
