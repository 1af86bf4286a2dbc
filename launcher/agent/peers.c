/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/peers.h"
#include "launcher/agent/agent_setup.h"
#include "launcher/base/file_limit.h"
#include "launcher/base/notice.h"
#include "pmix_bcast/adapter.h"
#include "pmix_bcast/wireup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- own endpoint -------------------------------------------------------------- */

/* Where an agent tells the others that it is: its address on
 * the interface that reaches the front end, and its networks meant for data. */

/* Without one there is no connection table. */
static void find_adapter(struct adapter *adapter,
                         const struct agent_setup *s,
                         const struct address *own)
{
    struct es_error err = {0};

    if (adapter_find(adapter, s->sysfs, (const struct sockaddr *)&own->at, &err)
        < 0)
        notice("%s: %s: %s", s->node, err.what, err.mend);
}

/* Without them data goes as everything else does. */
static void find_networks(struct endpoint *e, const struct agent_setup *s)
{
    if (networks_find(&e->networks, s->interfaces,
                      address_loopback(e->address) != LOOPBACK_NO, s->sysfs)
        < 0)
        notice("%s: the network interfaces cannot be listed: %s", s->node,
               strerror(errno));
}

/* All of *e but its ports, and the adapter of that interface: what cannot be
 * found of it is said, and all else works.  The text of the front end's address
 * was checked. */
static int own_endpoint_find(struct endpoint *e,
                             struct adapter *adapter,
                             const struct agent_setup *s,
                             struct es_error *err)
{
    struct address front, own;

    (void)address_parse(&front, s->front_address, s->front_port); /* checked */
    if (address_towards(&own, &front) < 0
        || address_format(e->address, (const struct sockaddr *)&own.at) < 0)
        return es_fail(
            err, ES_ENV, "let the compute nodes reach the host of srun",
            "%s: no way to %s: %s", s->node, s->front_address, strerror(errno));
    snprintf(e->node, sizeof e->node, "%s", s->node);
    find_adapter(adapter, s, &own);
    find_networks(e, s);
    return 0;
}

/* --- peers --------------------------------------------------------------------- */

/* For all of them, once we have a rank. */
static int open_listener(struct peers *p, struct es_error *err)
{
    const struct agent_setup *s = p->setup;
    struct listener_setup door = {.base = p->base,
                                  .secret = &s->secret,
                                  .purpose = PURPOSE_MESH,
                                  .self = FRONT_END, /* until then */
                                  .ports = s->ports,
                                  .at = &p->at,
                                  .called = mesh_take,
                                  .full = file_limit_reached,
                                  .arg = p->mesh};

    if (listener_open(&p->listener, &door, err) < 0)
        return -1;
    p->mine.port = p->adapter.tcp_port = listener_port(p->listener);
    return 0;
}

/* For our parent in the tree. */
static int open_door(struct peers *p,
                     const struct table_tree_events *on,
                     void *arg,
                     struct es_error *err)
{
    const struct table_tree_setup setup = {.base = p->base,
                                           .secret = &p->setup->secret,
                                           .branches = TABLE_BRANCHES,
                                           .ports = p->setup->ports,
                                           .at = &p->at,
                                           .on = on,
                                           .arg = arg};

    if (table_tree_open(&p->tree, &setup, err) < 0)
        return -1;
    p->mine.door = table_tree_door(p->tree);
    return 0;
}

static int join(struct peers *p, struct es_error *err)
{
    if (p->setup->by_tcp) {
        p->wireup.rank = p->setup->rank;
        p->wireup.size = p->setup->agents;
    } else if (wireup_join(&p->wireup, &p->mine, err) < 0) {
        return -1;
    }
    listener_set_self(p->listener, p->wireup.rank);
    table_tree_set_self(p->tree, p->wireup.rank);
    p->mine.door = table_tree_door(p->tree);
    return 0;
}

int peers_open(struct peers *p,
               struct event_base *base,
               const struct agent_setup *setup,
               const struct table_tree_events *on,
               void *arg,
               struct es_error *err)
{
    p->base = base;
    p->setup = setup;
    p->mesh = mesh_create(base);
    if (!p->mesh)
        return es_no_memory(err);
    if (own_endpoint_find(&p->mine, &p->adapter, setup, err) < 0)
        return -1;
    listen_at_add(&p->at, p->mine.address);
    listen_at_networks(&p->at, &p->mine.networks);
    return open_listener(p, err) < 0 || open_door(p, on, arg, err) < 0
                   || join(p, err) < 0
               ? -1
               : 0;
}

int peers_fence(struct peers *p, const uint8_t *body, size_t len)
{
    struct msg_fence m;

    if (p->wireup.agent)
        return 1; /* it has come twice: a parent missed us */
    if (msg_read_fence(&m, body, len) < 0
        || (m.len > 0 && wireup_take(&p->wireup, m.table, m.len) < 0))
        return -1;
    if (m.len > 0)
        table_tree_pass(p->tree, &p->wireup, m.branches, body, len);
    return 0;
}

int peers_exchange(struct peers *p, struct es_error *err)
{
    return p->wireup.agent || p->setup->by_tcp
               ? 0
               : wireup_exchange(&p->wireup, err);
}

void peers_pass(struct peers *p,
                const struct msg_relay *m,
                const uint8_t *body,
                size_t len)
{
    if (p->wireup.agent)
        table_tree_order(p->tree, &p->wireup, m, body, len);
}

void peers_greet(struct peers *p, greeting_fn fn, void *arg)
{
    const struct wireup *w = &p->wireup;
    const struct parties parties = {PURPOSE_MESH, w->rank,
                                    (w->rank + 1) % w->size};

    if (w->size < 2 || !w->agent)
        return;
    p->greeting = greeting_start(p->base, &w->agent[parties.callee], &parties,
                                 &p->setup->secret, fn, arg);
}

void peers_close(struct peers *p)
{
    greeting_destroy(p->greeting);
    listener_close(p->listener);
    mesh_destroy(p->mesh);
    table_tree_close(p->tree);
    wireup_clear(&p->wireup);
}
