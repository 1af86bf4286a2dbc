/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slice_queue.h - the slices that wait for their turn in a slot of a node, each
 * with the file that its command is to read.
 *
 * Such a file has no name: with its descriptor all of it is gone.
 */
#ifndef LAUNCHER_AGENT_SLICE_QUEUE_H
#define LAUNCHER_AGENT_SLICE_QUEUE_H

#include "launcher/wire/protocol.h"

#include <sys/queue.h>

struct waiting_slice {
    STAILQ_ENTRY(waiting_slice) next;
    struct msg_run run;
    int in_fd; /* its stdin; 0: none */
};
STAILQ_HEAD(slice_queue, waiting_slice); /* STAILQ_INIT() it */

/* Behind all others.  in_fd is the queue's from now on.  0, or -1 if memory ran
 * out (in_fd was closed). */
int slice_queue_put(struct slice_queue *q,
                    const struct msg_run *run,
                    int in_fd);
/* The first one, which is the caller's to free; NULL: none waits. */
struct waiting_slice *slice_queue_take(struct slice_queue *q);
/* Close its file, too; NULL is allowed. */
void waiting_slice_free(struct waiting_slice *w);

size_t slice_queue_size(const struct slice_queue *q);
/* Forget the one with that id: 1, or 0 if it does not wait. */
int slice_queue_drop(struct slice_queue *q, uint64_t id);
/* Forget all. */
void slice_queue_clear(struct slice_queue *q);

#endif
