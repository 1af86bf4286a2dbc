/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/members.h"
#include "launcher/base/notice.h"
#include "launcher/session/order_tree.h"
#include "launcher/wire/table_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct member {
    struct node node;
    struct channel *channel; /* NULL: not here */
    int has_been;            /* READY */
    struct members *members;
};

struct members {
    const struct members_events *on;
    void *arg;
    int leaving; /* what they say now is of no interest */
    struct order_tree *orders;
    size_t start, n; /* that began the session, and with the seats */
    struct member member[];
};

void members_listen_at(const struct members *m, struct listen_at *at)
{
    char here[ADDRESS_MAX];

    for (size_t i = 0; i < m->n; i++) {
        const struct member *one = &m->member[i];

        if (one->channel && channel_here(one->channel, here) == 0)
            listen_at_add(at, here);
        else if (i < m->start && !one->has_been)
            listen_at_add(at, ""); /* everywhere */
    }
}

/* As it is, w is cleared. */
static void send_one(void *arg, size_t node, uint16_t type, struct writer *w)
{
    struct members *m = arg;
    struct channel *c = m->member[node].channel;

    if (c && (w->bad || channel_send(c, type, w->buf, w->len) < 0))
        channel_hang_up(c);
    writer_clear(w);
}

struct members *members_create(struct event_base *base,
                               size_t start,
                               size_t seats,
                               uint32_t number,
                               const struct members_events *on,
                               void *arg)
{
    size_t n = start + seats;
    struct members *m = calloc(1, sizeof *m + n * sizeof m->member[0]);
    const struct order_tree_setup orders = {.base = base,
                                            .n = (uint32_t)n,
                                            .branches = TABLE_BRANCHES,
                                            .number = number,
                                            .send = send_one,
                                            .arg = m};

    if (!m)
        return NULL;
    m->on = on;
    m->arg = arg;
    m->start = start;
    m->n = n;
    for (size_t i = 0; i < n; i++)
        m->member[i].members = m;
    m->orders = order_tree_create(&orders);
    for (size_t i = start; m->orders && i < n; i++)
        order_tree_lost(m->orders, i); /* nobody is there yet */
    if (m->orders)
        return m;
    free(m);
    return NULL;
}

const struct node *members_node(const struct members *m, size_t node)
{
    return &m->member[node].node;
}

/* --- connections ----------------------------------------------------------- */

static void member_lost(struct member *m, const char *why)
{
    struct members *all = m->members;
    int was_present = m->node.present;

    m->channel = NULL;
    m->node.present = 0;
    order_tree_lost(all->orders, (size_t)(m - all->member));
    if (was_present)
        all->on->lost(all->arg, (size_t)(m - all->member), why);
}

static void on_member_closed(struct channel *c, void *arg, const char *why)
{
    (void)c;
    member_lost(arg, why);
}

static void drop_breach(struct member *m)
{
    struct channel *c = m->channel;

    member_lost(m, "its agent does not speak evenstep's protocol");
    channel_destroy(c);
}

static void receive_taken(struct member *m, const uint8_t *body, size_t len)
{
    struct members *all = m->members;
    uint32_t number;

    if (msg_read_u32(&number, body, len) < 0
        || order_tree_taken(all->orders, (size_t)(m - all->member), number) < 0)
        drop_breach(m);
}

/* What came of its call to the next agent. */
static void receive_peer(struct member *m, const uint8_t *body, size_t len)
{
    struct msg_peer peer;

    if (msg_read_peer(&peer, body, len) < 0) {
        drop_breach(m);
    } else if (!peer.reached) {
        notice("warning: %s cannot reach %s: let the nodes reach each other at "
               "the ports of SrunPortRange",
               m->node.name, peer.text);
    }
}

static void on_member_message(struct channel *c,
                              void *arg,
                              uint16_t type,
                              const uint8_t *body,
                              size_t len)
{
    struct member *m = arg;
    struct members *all = m->members;

    (void)c;
    if (type == MSG_TAKEN)
        receive_taken(m, body, len);
    else if (all->leaving)
        return;
    else if (type == MSG_PEER)
        receive_peer(m, body, len);
    else
        all->on->message(all->arg, (size_t)(m - all->member), type, body, len);
}

static const struct channel_events member_events = {
    .message = on_member_message,
    .closed = on_member_closed,
};

static void take_over(struct member *m, struct channel *c)
{
    m->channel = c;
    channel_set_events(c, &member_events, m);
}

static void describe(struct member *m, const struct msg_ready *ready)
{
    snprintf(m->node.name, sizeof m->node.name, "%s", ready->node);
    snprintf(m->node.rack, sizeof m->node.rack, "%s", ready->rack);
    snprintf(m->node.boot_id, sizeof m->node.boot_id, "%s", ready->boot_id);
    m->node.adapter = ready->adapter;
    m->node.cpus = ready->cpus;
    m->node.has_plugin = ready->has_plugin != 0;
}

int members_join(struct members *all,
                 struct channel *c,
                 const struct msg_ready *ready)
{
    struct member *m = &all->member[ready->rank];

    if (ready->agents != all->start || m->has_been) {
        channel_destroy(c);
        return -1;
    }
    m->has_been = 1;
    describe(m, ready);
    m->node.present = 1;
    take_over(m, c);
    return 0;
}

void members_await(struct members *m)
{
    for (size_t i = 0; i < m->start; i++)
        if (!m->member[i].has_been) {
            snprintf(m->member[i].node.name, NODE_NAME_MAX, "node-%zu-of-%zu",
                     i + 1, m->start);
            order_tree_lost(m->orders, i);
        }
}

int members_is_awaited(const struct members *m, size_t node)
{
    return node < m->start && !m->member[node].has_been;
}

int members_come(struct members *m,
                 struct channel *c,
                 const struct msg_ready *ready)
{
    if (members_join(m, c, ready) < 0)
        return -1;
    order_tree_returned(m->orders, ready->rank);
    return 0;
}

/* It has noticed before us that the connection of before is dead. */
static void drop_old(struct member *m)
{
    struct channel *old = m->channel;

    if (old)
        member_lost(m, "it calls again");
    channel_destroy(old);
}

int members_rejoin(struct members *all,
                   struct channel *c,
                   const struct msg_ready *ready,
                   int may_return)
{
    struct member *m = &all->member[ready->rank];
    size_t agents = ready->rank < all->start ? all->start : all->n;

    if (ready->agents != agents || strcmp(m->node.name, ready->node) != 0) {
        channel_destroy(c);
        return 0;
    }
    drop_old(m);
    take_over(m, c);
    if (!may_return) {
        (void)channel_send(c, MSG_LEAVE, NULL, 0); /* else it is cut off */
        return 0;
    }
    describe(m, ready); /* another job's may have other CPUs */
    m->node.present = 1;
    order_tree_returned(all->orders, ready->rank);
    return 1;
}

void members_seat(struct members *m, size_t node, const char *name)
{
    snprintf(m->member[node].node.name, NODE_NAME_MAX, "%s", name);
}

void members_send(struct members *m,
                  size_t node,
                  uint16_t type,
                  struct writer *w)
{
    order_tree_before(m->orders, node);
    send_one(m, node, type, w);
}

void members_send_all(struct members *m, uint16_t type, struct writer *w)
{
    order_tree_send(m->orders, type, w);
}

void members_send_each(struct members *m,
                       uint16_t type,
                       struct writer w[],
                       const char to[])
{
    order_tree_send_each(m->orders, type, w, to);
}

void members_drop(struct members *m, size_t node)
{
    if (m->member[node].channel)
        channel_hang_up(m->member[node].channel);
}

static void leave_from(const struct members *m, size_t first)
{
    for (size_t i = first; i < m->n; i++)
        if (m->member[i].channel)
            (void)channel_send(m->member[i].channel, MSG_LEAVE, NULL, 0);
}

uint32_t members_number(const struct members *m)
{
    return order_tree_number(m->orders);
}

void members_leave(struct members *m, int all_here)
{
    struct writer nothing = {0};

    m->leaving = 1;
    if (all_here)
        order_tree_send(m->orders, MSG_LEAVE, &nothing);
    else
        leave_from(m, 0);
}

void members_leave_seats(const struct members *m)
{
    leave_from(m, m->start);
}

void members_destroy(struct members *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++)
        channel_destroy(m->member[i].channel);
    order_tree_destroy(m->orders);
    free(m);
}
