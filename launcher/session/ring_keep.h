/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring_keep.h - has the agents of root keep what the ring has measured in the
 * site's cache, each on its node (probe_cache.h).
 */
#ifndef LAUNCHER_SESSION_RING_KEEP_H
#define LAUNCHER_SESSION_RING_KEEP_H

#include "launcher/session/qualification.h"

struct ring_keep {
    const struct session *session;
    size_t n, missing; /* nodes; of them still to answer */
    char *answered;    /* one a node */
    size_t failed, first;
    char why[TEXT_MAX]; /* of the first that failed */
};

/* Ask each node that the ring has a value of; there may be none to wait for.
 * 0, or -1 if memory ran out; it may then be cleared. */
int ring_keep_start(struct ring_keep *k, const struct qualification *q);
void ring_keep_clear(struct ring_keep *k);
/* Hear a message: 1 if it was for us, else 0. */
int ring_keep_message(struct ring_keep *k,
                      size_t node,
                      uint16_t type,
                      const uint8_t *body,
                      size_t len);
void ring_keep_lost(struct ring_keep *k, size_t node);
/* When nobody is missing: fails if a node could not keep it, and says which. */
int ring_keep_result(const struct ring_keep *k, struct es_error *err);

#endif
