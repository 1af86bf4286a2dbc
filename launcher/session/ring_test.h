/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring_test.h - core element I, at the front end: leads all agents at once
 * through the rounds of the ring (probe_ring.h) and reckons each node's value.
 *
 * All links are loaded for some tenths of a second, so it is only run when
 * somebody asks what the links carry.
 */
#ifndef LAUNCHER_SESSION_RING_TEST_H
#define LAUNCHER_SESSION_RING_TEST_H

#include "launcher/probe/probe_ring.h"
#include "launcher/session/session.h"

struct ring_test {
    struct session *session;
    uint32_t n, missing; /* nodes; of them still to answer */
    uint32_t round_ms;
    unsigned rounds;
    int round;          /* -1: their ports are asked for */
    char *answered;     /* one a node, as the next */
    uint16_t *port;     /* 0: it takes no part */
    double *received;   /* rounds a node, bytes a second */
    struct writer *out; /* room for what each is told; all empty */
};

/* Start; all rounds together take about ms.  0, or -1 if memory ran out; it
 * may then be cleared.  Less than two nodes: nothing is missing. */
int ring_test_start(struct ring_test *t, struct session *session, int ms);
void ring_test_clear(struct ring_test *t);

/*
 * Hear a message.  1 if it was one of the ring's, else 0.  When missing is 0
 * the test is over.
 */
int ring_test_message(struct ring_test *t,
                      size_t node,
                      uint16_t type,
                      const uint8_t *body,
                      size_t len);
void ring_test_lost(struct ring_test *t, size_t node);

/* A node's value as of ring_value(); -1 if it has none. */
int ring_test_value(const struct ring_test *t,
                    size_t node,
                    double *bytes_per_s,
                    double *spread);

#endif
