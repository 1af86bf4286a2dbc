/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/own_endpoint.h"
#include "launcher/base/notice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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

int own_endpoint_find(struct endpoint *e,
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
