/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task_stream.h - what the tasks of a piece have printed and how they ended, as one
 * stream of bytes from the node to the front end: the output of a piece whose
 * units are tasks.
 *
 * It is a sequence of parts: kind u8, length u32, and so many bytes.  TASK_OUT and
 * TASK_ERR are what the task at hand has written.  TASK_AGAIN, without bytes: it has
 * failed and is tried again, and what it has written to stdout does not count.
 * TASK_LAST, likewise: it is long, those before it in its piece need not wait for it, and
 * those behind it are not begun.  TASK_END is how it ended, and the next part is of the next task.  Numbers are little endian.
 */
#ifndef LAUNCHER_WIRE_TASK_STREAM_H
#define LAUNCHER_WIRE_TASK_STREAM_H

#include <stddef.h>
#include <stdint.h>

enum task_part { TASK_OUT = 1, TASK_ERR, TASK_END, TASK_AGAIN, TASK_LAST };

#define TASK_PART_HEAD 5u     /* bytes before those of a part */
#define TASK_PART_MAX  65536u /* bytes of a part */
#define TASK_END_BYTES 48u    /* of TASK_END */

enum task_why {
    TASK_BY_ITSELF,
    TASK_LATE,           /* it was ended, as it ran for longer than --timeout */
    TASK_NO_MEMORY,      /* the kernel has killed it for want of memory ... */
    TASK_NO_MEMORY_ALONE /* ... while it ran alone at its node, too */
};

struct task_end {
    uint32_t status; /* exit status, 0 to 255; 128 + signal if it was killed */
    uint32_t signal; /* that killed it, or 0 */
    uint32_t exec_errno; /* not 0: it could not be started */
    uint32_t tries;      /* how often it was run, 1 or more */
    uint32_t why;        /* enum task_why */
    uint32_t rss_mib;    /* most memory of a process of it that has ended */
    uint64_t begun_ns;   /* of the last try, since 1970 */
    uint64_t elapsed_ns; /* likewise, from before fork to its exit */
    uint64_t cpu_ns;     /* CPU time of it and of what it has waited for */
};

/* The head of a part of so many bytes. */
void task_part_head(uint8_t head[TASK_PART_HEAD],
                    enum task_part kind,
                    size_t len);
void task_end_write(uint8_t bytes[TASK_END_BYTES], const struct task_end *e);

/* Reads a stream as it comes.  All zero: at its begin. */
struct task_stream {
    uint8_t head[TASK_END_BYTES]; /* of a part, then of an end; n bytes */
    size_t n;
    uint32_t kind; /* of the part that is being read; 0: its head is */
    size_t len;    /* bytes of it ... */
    size_t left;   /* ... and of these, those that are yet to be read */
    uint64_t at;   /* bytes of the parts that have been read */
};

struct task_events {
    void (*text)(void *arg, enum task_part kind, const void *bytes, size_t len);
    void (*again)(void *arg);
    void (*end)(void *arg, const struct task_end *e);
    void (*last)(void *arg); /* or NULL */
};

/* The next bytes.  0, or -1: it is no such stream, and what follows is not read. */
int task_stream_read(struct task_stream *r,
                     const uint8_t *bytes,
                     size_t len,
                     const struct task_events *on,
                     void *arg);
#endif
