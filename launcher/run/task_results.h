/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task_results.h - what the tasks of a piece have printed, apart, and how each
 * ended: out of the piece's output, which is a stream of task_stream.h.
 */
#ifndef LAUNCHER_RUN_TASK_RESULTS_H
#define LAUNCHER_RUN_TASK_RESULTS_H

#include "launcher/base/spool.h"
#include "launcher/wire/task_stream.h"

struct task_result {
    struct task_end end;
    uint64_t out, err; /* where what it has printed ends; it begins where that
                          of the task before ends */
};

struct task_results {         /* all zero: none */
    struct task_result *task; /* n, in the order of their units */
    size_t n, cap;
    struct spool out, err; /* of all that have ended */
};

/* What has come of a piece, of at most so many tasks; what it has of one that has
 * not ended is left out.  0, or -1 with errno (EBADMSG: it is no such stream, or of
 * more tasks); *t is to be cleared in any case. */
int task_results_read(struct task_results *t,
                      const struct spool *from,
                      uint64_t most);
/* One more has ended, and has printed nothing that is kept.  0, or -1: no memory. */
int task_results_add(struct task_results *t, const struct task_end *e);
/* Each line of the i-th task begins with tag(arg, i), which is freed, from now on.  0,
 * or -1 with errno, or as tag() gave NULL: then all is as it was. */
int task_results_tag(struct task_results *t,
                     char *(*tag)(void *arg, size_t i),
                     void *arg);
void task_results_clear(struct task_results *t);

/* Where the i-th task's part of out, or of err, begins. */
uint64_t task_results_out(const struct task_results *t, size_t i);
uint64_t task_results_err(const struct task_results *t, size_t i);
/* Add bytes [from, to) of a spool to another.  0, or -1 with errno. */
int task_results_copy(struct spool *to_spool,
                      const struct spool *of,
                      uint64_t from,
                      uint64_t to);

#endif
