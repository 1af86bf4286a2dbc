/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * order_message.h - an order of the front end on its way down the tree of the
 * agents (order_tree.h of the session, table_tree.h between them).
 *
 *   RELAY     front end, number u32, type u32, n u32, n x blob: bodies of that
 *             agent      type, marks blob: (rank u32, body u32) by rank: who is
 *                        to have which; without marks all are to have the one
 *   AFTER     front end  number u32: what follows is for after that RELAY
 *   TAKEN     agent      number u32: this one and all before it have come
 *
 * Orders are numbered from 1.  An agent passes on to a child what is for the
 * child's part of the tree.  All of it is pure.
 */
#ifndef LAUNCHER_WIRE_ORDER_MESSAGE_H
#define LAUNCHER_WIRE_ORDER_MESSAGE_H

#include "pmix_bcast/bytes.h"

struct msg_relay {
    uint32_t number; /* not 0 */
    uint16_t type;   /* of the order; none that goes on connections as itself */
    uint32_t n;      /* bodies; 0: it is for nobody here */
    /* In the body of the message, and known to be sound. */
    const uint8_t *bodies, *marks;
    size_t bodies_len, marks_len;
};

/* Whose child a rank is, in the tree of so many branches; UINT32_MAX: the front
 * end's. */
uint32_t order_parent(uint32_t branches, uint32_t rank);

/* One body for all. */
void msg_write_relay(struct writer *w,
                     uint32_t number,
                     uint16_t type,
                     const uint8_t *body,
                     size_t len);
/* body[i] is for rank first + i, i < n; NULL: for nobody.  Neighbours with the
 * same share it. */
void msg_write_relay_each(struct writer *w,
                          uint32_t number,
                          uint16_t type,
                          const struct writer *const body[],
                          uint32_t first,
                          uint32_t n);
int msg_read_relay(struct msg_relay *m, const uint8_t *body, size_t len);
/* What is for a rank, in the message's body; NULL: nothing. */
const uint8_t *relay_body(const struct msg_relay *m,
                          uint32_t rank,
                          size_t *len);
/* The message for a child: what is for it and those below it.  Only of one
 * with marks; any other goes on as it is. */
void relay_cut(struct writer *w,
               const struct msg_relay *m,
               uint32_t branches,
               uint32_t child);

#endif
