/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conntable.h - the connection table: how every task of a step is reached by
 * any other.  One file, alike on all nodes, mapped and read in place.
 *
 *   offset  size  field        (integers little-endian)
 *        0     8  magic        "EVSCONN\n"; then a text editor shows what it is
 *        8     4  version      1; a change of meaning is a new number
 *       12     4  entry size   64
 *       16     4  entries n    1 to CONNTABLE_TASKS_MAX
 *       20     4  ports        enum conntable_ports
 *       24     8  digest       XXH3-64 of all entries, its seed is `ports`
 *       32    32  zero
 *       64  64 n  entries      by rank; each one line of the CPU's cache
 *
 * An entry:
 *        0    56  adapter      of the task's node, see adapter.h; its TCP port
 *                              is as `ports` of the head says
 *       56     4  node         its number in the step, from 0
 *       60     2  local rank   among the node's tasks, in order of their rank
 *       62     2  window id    among the tasks that share the adapter
 *
 * Each byte of the head but those of ports and digest has one right value in a
 * file of a given length, and the digest stands for the two: no damage to it
 * goes unseen where the digest is checked.
 */
#ifndef PMIX_BCAST_CONNTABLE_H
#define PMIX_BCAST_CONNTABLE_H

#include "pmix_bcast/adapter.h"
#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>

#define CONNTABLE_HEAD  64u
#define CONNTABLE_ENTRY 64u
/* A GiB of table; 256 tasks on each of Slurm's 64k nodes. */
#define CONNTABLE_TASKS_MAX (1u << 24)
/* Of one node: a u16 in Slurm's step layout, too. */
#define CONNTABLE_LOCAL_MAX 65536u

/* Whose the TCP ports of a table are. */
enum conntable_ports {
    CONNTABLE_OF_NODES = 0, /* of the agent on the task's node */
    CONNTABLE_OF_TASKS = 1, /* the task's own, as it has said; 0: it has none */
};

struct conntable_entry {
    struct adapter adapter;
    uint32_t node;
    uint16_t local_rank, window;
};

/* Where the tasks of a step are. */
struct conntable_layout {
    uint32_t nodes, tasks;
    const uint32_t *node_of; /* tasks of them, by rank; each below nodes */
};

struct conntable {
    const uint8_t *bytes; /* NULL: not open */
    uint32_t tasks;
    enum conntable_ports ports;
};

/* At which TCP ports the tasks of a node listen, by local rank. */
struct conntable_listening {
    const uint16_t *port;
    uint32_t tasks;
};

enum conntable_check {
    CONNTABLE_HEAD_ONLY, /* O(1) */
    CONNTABLE_DIGEST,    /* reads it all */
};

/* Bytes of a table. */
size_t conntable_size(uint32_t tasks);

/*
 * Write the table of a step.
 *
 *   out      conntable_size(layout->tasks) bytes
 *   adapter  one for each node; those without a task are not looked at
 *   local    one for each node: becomes the number of its tasks
 *
 * Block, cyclic or any other layout will do.  Returns 0, or -1 if a number is
 * out of bounds or a node with tasks has no adapter (out and local are then
 * of no use).  O(nodes + tasks), 64 bytes a task.
 */
int conntable_compose(uint8_t *out,
                      const struct conntable_layout *layout,
                      const struct adapter *adapter,
                      uint32_t *local,
                      struct es_error *err);

/*
 * Write the table of where the tasks listen: t with their own ports.
 *
 *   out  conntable_size(t->tasks) bytes, none of them of t
 *   at   one for each node, with all that t has of its tasks
 *
 * Returns 0, or -1 if some task is on none of these nodes, or not among its
 * node's (out is then of no use).  O(tasks).
 */
int conntable_of_tasks(uint8_t *out,
                       const struct conntable *t,
                       const struct conntable_listening *at,
                       uint32_t nodes,
                       struct es_error *err);

/*
 * Take bytes[0..len), which stay the caller's and must outlive t, as a table;
 * name is for messages.  Returns 0, or -1 (t not open).
 */
int conntable_read(struct conntable *t,
                   const char *name,
                   const uint8_t *bytes,
                   size_t len,
                   enum conntable_check check,
                   struct es_error *err);

/*
 * Map a regular file, no symbolic link, read-only.  Nobody may make it
 * shorter while it is open; ours are renamed into place and never written
 * again.  Returns 0, or -1 (t not open).
 */
int conntable_open(struct conntable *t,
                   const char *path,
                   enum conntable_check check,
                   struct es_error *err);
/* Only for what conntable_open() opened, or what is not open. */
void conntable_close(struct conntable *t);

/*
 * The entry of a task.  Returns 0, or -1 (*e zeroed) if the table has no such
 * rank, or, in one whose digest was not checked, if the entry is damaged.
 * O(1).
 */
int conntable_lookup(const struct conntable *t,
                     uint32_t rank,
                     struct conntable_entry *e);

#endif
