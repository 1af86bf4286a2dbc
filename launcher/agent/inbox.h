/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inbox.h - what an agent is told, in the order in which the front end has said
 * it, though it comes on two ways: orders for all down the tree of the agents
 * (order_message.h), by the parent or by the front end itself, what is for this
 * one by the front end alone.
 *
 * Each order is taken once, by its number; after a gap it is not: the front end
 * sees who lacks it, and sends it.  What was said after an order waits for it.
 */
#ifndef LAUNCHER_AGENT_INBOX_H
#define LAUNCHER_AGENT_INBOX_H

#include "launcher/wire/order_message.h"

struct event_base;
struct inbox;

struct inbox_setup {
    struct event_base *base;
    uint32_t rank;
    /* The next message; it may call inbox_begin() or inbox_away(). */
    void (*take)(void *arg, uint16_t type, const uint8_t *body, size_t len);
    /* An order, to be passed on. */
    void (*pass)(void *arg,
                 const struct msg_relay *m,
                 const uint8_t *body,
                 size_t len);
    /* The front end is to know what has come by the parent: TAKEN. */
    void (*taken)(void *arg, uint32_t number);
    void *arg;
};

/* NULL if memory ran out. */
struct inbox *inbox_create(const struct inbox_setup *setup);
/* NULL is allowed. */
void inbox_destroy(struct inbox *i);

/* The front end has said something: 0, or -1 if it must not say that, or memory
 * ran out. */
int inbox_front(struct inbox *i,
                uint16_t type,
                const uint8_t *body,
                size_t len);
/* The parent has passed a RELAY: 0, or -1 if it is none. */
int inbox_parent(struct inbox *i, const uint8_t *body, size_t len);

/* The front end is lost: what waits is forgotten, and from now on it alone
 * brings orders. */
void inbox_away(struct inbox *i);
/* There will be another front end, which goes on counting: what is late of this
 * one's is no order of its. */
void inbox_begin(struct inbox *i);

#endif
