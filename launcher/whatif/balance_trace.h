/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * balance_trace.h - the nodes of a real run, from its report or journal: how
 * fast each was, frame by frame.  Other policies are then simulated on them.
 *
 * The speed of a node in a frame is the units that it did, over the seconds
 * that their commands ran.  In a frame in which it did none it keeps the speed
 * it had.
 */
#ifndef LAUNCHER_WHATIF_BALANCE_TRACE_H
#define LAUNCHER_WHATIF_BALANCE_TRACE_H

#include "pmix_bcast/error.h"
#include "policy/balance.h"

struct balance_trace {
    size_t n;      /* nodes that have done anything */
    double *speed; /* n, in the first frame; units per second */
    struct balance_change *change;
    size_t n_changes;
    uint64_t frames;
    uint64_t units; /* of a frame, on average */
};

/* Fails as report_file_read() does, or with ES_USAGE if no node has done
 * anything.  Call balance_trace_clear() in any case. */
int balance_trace_read(struct balance_trace *t,
                       const char *path,
                       struct es_error *err);
void balance_trace_clear(struct balance_trace *t);

#endif
