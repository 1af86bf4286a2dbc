/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qualification.h - seed 1, steps 2 and 3: has every node of a session
 * measured at the start, and keeps what came back.
 */
#ifndef LAUNCHER_QUALIFICATION_H
#define LAUNCHER_QUALIFICATION_H

#include "launcher/session.h"
#include "policy/metric.h"

struct qualification {
    struct session *session;
    double (*measured)[ELEMENTS]; /* one row a node; 0: not measured */
    char *answered;               /* one a node */
    size_t n, missing;            /* nodes; of them still to answer */
};

/* Start: ask every node for a probe of budget_ms (equal: take all as alike,
 * and nothing is missing).  0, or -1 if memory ran out. */
int qualification_start(struct qualification *q,
                        struct session *session,
                        int budget_ms,
                        int equal);
void qualification_clear(struct qualification *q);
/* A node's answer; one that cannot be read counts as nothing measured. */
void qualification_answer(struct qualification *q,
                          size_t node,
                          const uint8_t *body,
                          size_t len);
/* A node is back: forget what was measured, and have it measured again. */
void qualification_again(struct qualification *q, size_t node, int budget_ms);
/* A node has gone: nothing is expected of it any more. */
void qualification_lost(struct qualification *q, size_t node);

#endif
