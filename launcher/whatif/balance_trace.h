/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * balance_trace.h - what nodes a real run had, from its report or journal, to
 * simulate others on them: how fast each was, frame by frame.
 *
 * The speed of a node in a frame is the units it has done over the seconds
 * that their commands ran; where it did none it is as before.
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
    uint64_t units; /* of a frame, their mean */
};

/* Fails as report_file_read(), or with ES_USAGE if no node has done anything;
 * clear it in any case. */
int balance_trace_read(struct balance_trace *t,
                       const char *path,
                       struct es_error *err);
void balance_trace_clear(struct balance_trace *t);

#endif
