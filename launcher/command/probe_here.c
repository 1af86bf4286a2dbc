/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/probe_here.h"
#include "launcher/probe/probe.h"
#include "launcher/probe/probe_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_to_be_kept(const struct config_probe *config, unsigned elements)
{
    return geteuid() == 0 && !getenv("SLURM_JOB_ID")
           && elements == config->elements;
}

static int measure(struct probe_node_view *node,
                   const struct config_probe *config,
                   unsigned elements,
                   struct es_error *err)
{
    struct probe_setup setup;

    probe_setup_init(&setup);
    setup.budget_ms = config->budget_ms;
    setup.elements = elements;
    setup.site = config->site;
    if (config->scratch[0])
        setup.scratch = config->scratch;
    return probe_node(&setup, node->result, err);
}

/*
 * What kept an element from being measured then, as a driver that was not there,
 * may be gone.  1: all of what is kept holds, but for what is measured now; 0:
 * it is to be replaced.
 */
static int complete(struct probe_node_view *node,
                    const struct config_probe *config,
                    unsigned elements,
                    struct es_error *why)
{
    struct probe_node_view now = {0};
    unsigned again = 0;
    int gained = -1;

    for (int e = 0; e < ELEMENTS; e++)
        if (node->result[e].state == PROBE_NOT_MEASURED)
            again |= PROBE_BIT(e);
    if (!again || measure(&now, config, again, NULL) < 0)
        return 1;
    for (int e = 0; e < ELEMENTS; e++)
        if (again & PROBE_BIT(e)) {
            node->result[e] = now.result[e];
            if (now.result[e].state == PROBE_MEASURED)
                gained = e;
        }
    if (gained < 0 || !is_to_be_kept(config, elements))
        return 1;
    (void)es_fail(why, ES_ENV, "", "cache %s: %c could not be measured then",
                  config->cache, element_letter((enum element)gained));
    return 0;
}

int probe_here(struct probe_node_view *node,
               char name[64],
               const struct config_probe *config,
               unsigned elements,
               int fresh,
               struct es_error *err)
{
    const struct probe_cache cache = {config->cache, 0};
    struct es_error why = {0};
    struct probe_stamp now;

    memset(node, 0, sizeof *node);
    probe_cache_node(name);
    node->name = name;
    if (probe_stamp_take(&now, name, "/proc", "/sys", err) < 0)
        return -1;
    snprintf(node->hardware, sizeof node->hardware, "%s", now.hardware);
    if (!fresh
        && probe_cache_get(&cache, &now, config->ttl_s, elements, config->site,
                           node->result, &why)
               == 0
        && complete(node, config, elements, &why)) {
        node->cached = 1;
        return 0;
    }
    snprintf(node->why, sizeof node->why, "%.500s", why.what);
    if (measure(node, config, elements, err) < 0)
        return -1;
    if (!is_to_be_kept(config, elements))
        return 0;
    return probe_cache_put(&cache, &now, node->result, err);
}
