/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/qualification_ask.h"
#include "launcher/session/qualification_rank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of what nodes of one machine share, what is asked for all the same: to read
 * the port's speed costs nothing, and the cache may have what the ring has
 * measured. */
#define SHARED_ASKED PROBE_BIT(ELEMENT_I)

/* Of the budget: what the ring has, if there is one. */
#define RING_PART 0.4

int qualification_ring_ms(const struct qualification_setup *setup)
{
    return (int)(setup->probe->budget_ms * RING_PART);
}

/* What is left for the probes of a node. */
static uint32_t node_ms(const struct qualification_setup *setup)
{
    int ms = setup->probe->budget_ms
             - (setup->ring ? qualification_ring_ms(setup) : 0);

    return (uint32_t)(ms > PROBE_NODE_BUDGET_MIN_MS ? ms
                                                    : PROBE_NODE_BUDGET_MIN_MS);
}

/* --- who shares a machine ------------------------------------------------- */

struct host {
    const char *boot_id;
    size_t node;
};

static int compare_hosts(const void *a, const void *b)
{
    const struct host *x = a, *y = b;

    return strcmp(x->boot_id, y->boot_id);
}

static int is_one_machine(const struct host *a, const struct host *b)
{
    return a->boot_id[0] && strcmp(a->boot_id, b->boot_id) == 0;
}

/* Mark the nodes that share their machine with another; -1 if memory ran out. */
int qualification_find_shared(struct qualification *q)
{
    struct host *h = calloc(q->n, sizeof *h);

    for (size_t i = 0; h && i < q->n; i++)
        h[i] = (struct host){session_node(q->session, i)->boot_id, i};
    if (!h)
        return -1;
    qsort(h, q->n, sizeof *h, compare_hosts);
    for (size_t i = 0; i < q->n; i++)
        q->shares[h[i].node] =
            (i > 0 && is_one_machine(&h[i], &h[i - 1]))
            || (i + 1 < q->n && is_one_machine(&h[i], &h[i + 1]));
    free(h);
    return 0;
}

/* --- what a node is asked for --------------------------------------------- */

/* What a node is asked for: nobody waits for what does not count, but what is
 * to be shown is measured all the same. */
static uint32_t elements_for(const struct qualification *q, size_t node)
{
    const struct qualification_setup *s = q->setup;
    uint32_t elements = s->probe->elements;

    if (session_is_local(q->session))
        elements &= ~QUALIFICATION_SHARED;
    else if (q->shares[node] && s->profile)
        elements &= ~QUALIFICATION_SHARED | SHARED_ASKED;
    for (int e = 0; s->sparing && e < ELEMENTS; e++)
        if (e != ELEMENT_C && !(s->profile->profile.influence[e] > 0))
            elements &= ~PROBE_BIT(e);
    for (int e = 0; s->profile && e < ELEMENTS; e++)
        if (s->profile->need[e] > 0)
            elements |= PROBE_BIT(e); /* for how much there is of it */
    return elements;
}

void qualification_write_probe(const struct qualification *q,
                               struct writer *w,
                               size_t node)
{
    const struct config_probe *c = q->setup->probe;
    struct msg_probe m = {.fresh = q->setup->source == METRICS_PROBE,
                          .budget_ms = node_ms(q->setup),
                          .elements = elements_for(q, node),
                          .ttl_s = (uint64_t)c->ttl_s};

    snprintf(m.cache, sizeof m.cache, "%s", c->cache);
    snprintf(m.scratch, sizeof m.scratch, "%s", c->scratch);
    for (int i = 0; i < SITE_ELEMENTS; i++)
        if (m.elements & PROBE_BIT(ELEMENT_SITE + i))
            m.site[i] = c->site[i];
    msg_write_probe(w, &m);
}

/* Is all in it that the node would be asked for?  How much there is of a thing,
 * and what the site's own commands print, may have changed since. */
int qualification_is_enough(const struct qualification *q,
                            size_t node,
                            const struct probe_result result[ELEMENTS])
{
    const struct config_profile *p = q->setup->profile;
    uint32_t elements = elements_for(q, node);

    for (int e = 0; e < ELEMENTS; e++)
        if ((elements & PROBE_BIT(e))
            && (e >= ELEMENT_SITE || result[e].state == PROBE_LEFT_OUT
                || (p && p->need[e] > 0)))
            return 0;
    return 1;
}
