/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal_tasks.h - which tasks of a journal are still in the list, which may have
 * been edited since: a slice is taken apart where some of its tasks are not.
 */
#ifndef LAUNCHER_RUN_JOURNAL_TASKS_H
#define LAUNCHER_RUN_JOURNAL_TASKS_H

#include "launcher/run/frame.h"
#include "pmix_bcast/error.h"

struct journal_tasks {
    struct kept *kept; /* n, in an array of array_grow(); may become more */
    size_t n, room;
    const struct task_mark *mark; /* of those that have some: kept.tasks */
    const uint64_t *sum; /* XXH3-64 of each task of the list as it is now */
    uint64_t units;      /* these */
    int may_move;        /* one that stands elsewhere now is the same still */
    /* The frame of units of the list.  0, or -1: of none.  NULL: all are of one. */
    int (*place)(void *arg, struct slice units, uint64_t *frame);
    void *arg;
    uint64_t changed; /* tasks of the list whose text was another */
};

/*
 * Of the slices that tell of their tasks: each task has the units and the frame that it
 * has now, in a slice whose other tasks adjoin; those that are no more are in none, and
 * a slice without any is gone.  A task that has failed stays only where it was.  Of two
 * that would be one now the later one stays.  0, or -1 with err.
 */
int journal_tasks_settle(struct journal_tasks *t, struct es_error *err);

#endif
