/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/arrival.h"
#include "launcher/session/networks_tell.h"
#include "launcher/wire/roll.h"
#include "launcher/wire/table_tree.h"
#include "pmix_bcast/pending.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arrival {
    struct event_base *base;
    const struct arrival_events *on;
    void *arg;
    struct pending_list pending; /* has_said: HERE; number: its rank */
    struct roll roll;            /* of those that have said HERE */
    struct writer fence;         /* since the roll is complete */
    int by_tcp, early;
    const char *interfaces; /* meant for data */
    int ended;
};

/* --- the fence ------------------------------------------------------------ */

/* It may wire up. */
static void release_fence(struct arrival *a, struct pending *p)
{
    if (channel_send(p->channel, MSG_FENCE, a->fence.buf, a->fence.len) < 0)
        channel_hang_up(p->channel);
}

/* It may begin without the others. */
static void let_begin(struct pending *p)
{
    struct writer w = {0};

    msg_write_fence(&w, &(struct msg_fence){0});
    if (w.bad || channel_send(p->channel, MSG_FENCE, w.buf, w.len) < 0)
        channel_hang_up(p->channel);
    writer_clear(&w);
}

/* PMIx has all endpoints to fetch; where it is not there, or so many would
 * fetch as many from it, the table of them goes along. */
static int write_fence(struct arrival *a, uint32_t branches)
{
    struct msg_fence m = {.branches = branches};
    struct writer table = {0};
    int bad;

    if (a->by_tcp || branches > 0)
        wireup_write(&table, a->roll.agent, a->roll.n);
    m.table = table.buf;
    m.len = table.len;
    bad = table.bad;
    msg_write_fence(&a->fence, &m);
    writer_clear(&table);
    return bad || a->fence.bad || a->fence.len > MESSAGE_BODY_MAX ? -1 : 0;
}

/* All are here: they may wire up. */
static void open_fence(struct arrival *a)
{
    uint32_t branches = table_branches(a->roll.n, a->by_tcp);
    struct pending *p;

    networks_tell(a->roll.agent, a->roll.n, a->interfaces);
    if (write_fence(a, branches) < 0) {
        a->on->failed(a->arg, "free some memory",
                      "the agents' table cannot be made");
        return;
    }
    for (p = LIST_FIRST(&a->pending.first); p; p = LIST_NEXT(p, next))
        if (p->has_said && (branches == 0 || p->number < branches))
            release_fence(a, p);
    if (a->early)
        a->on->complete(a->arg, a->fence.buf, a->fence.len);
}

void arrival_missed(struct arrival *a, const uint8_t *body, size_t len)
{
    struct pending *p;
    uint32_t rank;

    if (msg_read_u32(&rank, body, len) < 0 || a->fence.len == 0)
        return;
    for (p = LIST_FIRST(&a->pending.first); p; p = LIST_NEXT(p, next))
        if (p->has_said && p->number == rank)
            release_fence(a, p);
}

/* --- who calls ------------------------------------------------------------ */

static int is_ours(const struct msg_version *m)
{
    return m->version == PROTOCOL_VERSION
           && strcmp(m->release, EVENSTEP_VERSION) == 0;
}

/* It has proved that it is of this step, and speaks otherwise than we do. */
static void refuse_version(struct arrival *a,
                           const struct pending *p,
                           const struct msg_version *m)
{
    char text[NODE_NAME_MAX + RELEASE_MAX + 200];

    if (m)
        snprintf(text, sizeof text,
                 "%s: its evenstep-agent is %s (protocol %u), this evenstep "
                 "is %s (protocol %u)",
                 m->node, m->release[0] ? m->release : "of before 0.2.0",
                 m->version, EVENSTEP_VERSION, PROTOCOL_VERSION);
    else
        snprintf(text, sizeof text,
                 "agent %u: it is of another version than this evenstep",
                 channel_caller(p->channel));
    a->on->failed(a->arg, "install the same version on all nodes", text);
}

static int receive_here(struct arrival *a,
                        struct pending *p,
                        const uint8_t *body,
                        size_t len)
{
    struct msg_version version;
    struct msg_here here;

    if (p->has_said)
        return -1;
    if (msg_read_version(&version, body, len) < 0 || !is_ours(&version)) {
        refuse_version(a, p, version.version > 0 ? &version : NULL);
        return -1;
    }
    if (msg_read_here(&here, body, len) < 0
        || here.rank != channel_caller(p->channel)
        || roll_call(&a->roll, &here) < 0)
        return -1;
    p->has_said = 1;
    p->number = here.rank;
    a->on->here(a->arg);
    if (a->early)
        let_begin(p);
    if (roll_is_complete(&a->roll))
        open_fence(a);
    return 0;
}

/* *p is gone if it has said what is due. */
static int receive_ready(struct arrival *a,
                         struct pending *p,
                         const uint8_t *body,
                         size_t len)
{
    struct channel *c = p->channel;
    struct msg_ready m;
    int expected;

    if (msg_read_ready(&m, body, len) < 0 || m.rank != channel_caller(c))
        return -1;
    expected = p->has_said && p->number == m.rank;
    pending_leave(p);
    a->on->ready(a->arg, c, &m, expected);
    return 0;
}

static void on_pending_message(struct channel *c,
                               void *arg,
                               uint16_t type,
                               const uint8_t *body,
                               size_t len)
{
    struct pending *p = arg;
    struct arrival *a = p->owner;
    int rc = 0;

    (void)c;
    if (type == MSG_READY) {
        rc = receive_ready(a, p, body, len);
    } else if (type == MSG_MISSED && p->has_said) {
        arrival_missed(a, body, len);
    } else if (type == MSG_HERE && !a->ended) {
        rc = receive_here(a, p, body, len);
    } else {
        if (!p->has_said && !a->ended)
            refuse_version(a, p, NULL);
        rc = -1;
    }
    if (rc < 0)
        pending_end(p);
}

static void on_pending_closed(struct channel *c, void *arg, const char *why)
{
    struct pending *p = arg;
    struct arrival *a = p->owner;
    uint32_t rank = p->number;
    int was_here = p->has_said && !a->ended;

    (void)c;
    pending_leave(p);
    if (was_here)
        a->on->lost(a->arg, rank, a->roll.agent[rank].node, why);
}

static const struct channel_events events = {
    .message = on_pending_message,
    .closed = on_pending_closed,
};

void arrival_accept(void *arrival, struct listener *l, int fd)
{
    struct arrival *a = arrival;

    (void)pending_accept_channel(&a->pending, a->base, fd, l, &events);
}

/* --- a start -------------------------------------------------------------- */

struct arrival *arrival_create(struct event_base *base,
                               const struct arrival_events *on,
                               void *arg)
{
    struct arrival *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->base = base;
    a->on = on;
    a->arg = arg;
    pending_init(&a->pending, a);
    return a;
}

void arrival_begin(struct arrival *a,
                   int by_tcp,
                   int early,
                   const char *interfaces)
{
    pending_clear(&a->pending);
    roll_clear(&a->roll);
    writer_clear(&a->fence);
    a->by_tcp = by_tcp;
    a->early = early;
    a->interfaces = interfaces;
}

void arrival_end(struct arrival *a)
{
    roll_clear(&a->roll);
    writer_clear(&a->fence);
    a->ended = 1;
}

const struct endpoint *arrival_agent(const struct arrival *a, uint32_t rank)
{
    return rank < a->roll.n && a->roll.agent[rank].port != 0
               ? &a->roll.agent[rank]
               : NULL;
}

uint32_t arrival_came(const struct arrival *a)
{
    return a->roll.called;
}

uint32_t arrival_size(const struct arrival *a)
{
    return a->roll.n;
}

void arrival_destroy(struct arrival *a)
{
    if (!a)
        return;
    arrival_begin(a, 0, 0, "");
    free(a);
}
