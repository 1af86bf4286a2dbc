/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parts_line.h - lines between an agent and the guard of its node that are of
 * the parts of the node (power_link.h).  Pure.
 *
 *   parts BOUND BAND GAIN LEAST/MOST/COUNT... : PID/PART...
 *
 * are the rule by which they are balanced, each part, and each task with the
 * part that it runs on.
 *
 *   LIMIT [PARTLIMIT...]
 *
 * is an order: the limit of the node, and the parts of it.
 *
 *   threads [TID...]
 *
 * are threads of tasks, which tell how they get on: may they have limits of
 * their own?  In "parts" they then stand for their task.  None: not any more.
 */
#ifndef LAUNCHER_WIRE_PARTS_LINE_H
#define LAUNCHER_WIRE_PARTS_LINE_H

#include "policy/power_parts.h"

#include <sys/types.h>

struct node_parts {
    struct power_rule rule;
    size_t n, tasks;
    struct power_part part[PARTS_MAX];
    struct {
        pid_t pid;     /* or a thread's id */
        uint32_t part; /* < n */
    } task[PART_TASKS_MAX];
};

/* Does the line speak of parts? */
int parts_line_is(const char *text);
/* 0; or -1 if it is none, or out of bounds: *p then has no parts. */
int parts_line_read(struct node_parts *p, const char *text);
/* Write it, with its NUL.  0, or -1 if there is no room. */
int parts_line_write(const struct node_parts *p, char *text, size_t room);

/* Read an order.  Returns the number of parts; -1 if it is none. */
int order_line_read(const char *text,
                    uint64_t *limit,
                    uint64_t part[PARTS_MAX]);
/* Write one of n parts, 0 included.  Its length, or -1 if there is no room. */
int order_line_write(
    char *text, size_t room, uint64_t limit, const uint64_t part[], size_t n);

/* Does the line speak of threads? */
int threads_line_is(const char *text);
/* Returns how many there are; -1 if it is none. */
int threads_line_read(const char *text, pid_t thread[PART_TASKS_MAX]);
/* Its length, or -1 if there is no room. */
int threads_line_write(char *text, size_t room, const pid_t thread[], size_t n);

#endif
