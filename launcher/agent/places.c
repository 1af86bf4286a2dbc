/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/places.h"
#include "launcher/agent/gpus.h"
#include "launcher/probe/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_BYTES CPU_ALLOC_SIZE(PLACE_CPUS)

/* --- CPUs ----------------------------------------------------------------- */

static cpu_set_t *make_set(struct place *to)
{
    to->cpus = CPU_ALLOC(PLACE_CPUS);
    return to->cpus;
}

/* Where all share all there is nothing to bind to. */
static int take_part(struct place *to,
                     const struct topology *t,
                     const struct topology_part *part)
{
    if (!make_set(to))
        return -1;
    if (!topology_part(t, part, to->cpus, CPUS_BYTES) && !part->list) {
        CPU_FREE(to->cpus);
        to->cpus = NULL;
    }
    return 0;
}

/* As many slots as were asked for, whatever there is of the kind. */
static int take_cpus(struct places *p,
                     const struct topology *t,
                     enum slots_kind kind)
{
    int rc = 0;

    for (unsigned i = 0; i < p->n && rc == 0; i++) {
        const struct topology_part part = {.i = i, .n = (unsigned)p->n};
        struct place *to = &p->place[i];

        if (kind != SLOTS_SOCKETS)
            rc = take_part(to, t, &part);
        else if (make_set(to))
            topology_socket(t, i % topology_shape(t)->sockets, to->cpus,
                            CPUS_BYTES);
        else
            rc = -1;
    }
    return rc;
}

/* --- GPUs ----------------------------------------------------------------- */

static int name_gpu(struct place *to, const struct gpus *g, size_t i)
{
    if (asprintf(&to->environ[0], "%s=%s", g->variable, g->gpu[i].word) < 0) {
        to->environ[0] = NULL;
        return -1;
    }
    to->environ[1] = strdup("CUDA_DEVICE_ORDER=PCI_BUS_ID");
    return to->environ[1] ? 0 : -1;
}

/* GPUs that are next to the same CPUs share these out. */
static int take_near(struct place *to,
                     const struct topology *t,
                     const struct gpus *g,
                     size_t i)
{
    const char *near = g->gpu[i].near;
    struct topology_part part = {.list = near[0] ? near : NULL};

    for (size_t k = 0; k < g->n; k++) {
        int is_alike = strcmp(near, g->gpu[k].near) == 0;

        part.n += is_alike ? 1 : 0;
        part.i += is_alike && k < i ? 1 : 0;
    }
    return take_part(to, t, &part);
}

static int take_gpus(struct places *p,
                     const struct topology *t,
                     const struct gpus *g)
{
    int rc = 0;

    for (size_t i = 0; i < p->n && rc == 0; i++) {
        rc = name_gpu(&p->place[i], g, i % g->n);
        if (rc == 0)
            rc = take_near(&p->place[i], t, g, i % g->n);
    }
    return rc;
}

/* --- both ----------------------------------------------------------------- */

static size_t count(const struct msg_slots *order,
                    const struct topology *t,
                    const struct gpus *g)
{
    const struct topology_shape *has = topology_shape(t);

    if (order->kind == SLOTS_GPUS)
        return order->n > 0 && g->n > 0 ? order->n : g->n;
    if (order->n > 0)
        return order->n;
    if (order->kind == SLOTS_SOCKETS)
        return has->sockets;
    return has->cores > 0 ? has->cores : has->cpus;
}

static int fill(struct places *p,
                const struct msg_slots *order,
                const struct topology *t,
                const struct gpus *g)
{
    size_t n = count(order, t, g);

    p->n = n < NODE_SLOTS_MAX ? n : NODE_SLOTS_MAX;
    if (n == 0)
        return 0;
    p->place = calloc(p->n, sizeof *p->place);
    if (!p->place)
        return -1;
    return order->kind == SLOTS_GPUS
               ? take_gpus(p, t, g)
               : take_cpus(p, t, (enum slots_kind)order->kind);
}

int places_init(struct places *p,
                const struct msg_slots *order,
                char *const environ[],
                const char *root,
                char why[TEXT_MAX])
{
    struct es_error err = {0};
    struct topology *t = topology_load(&err);
    struct gpus *g = calloc(1, sizeof *g);
    int rc = g ? 0 : -1;

    *p = (struct places){.n = 0};
    why[0] = '\0';
    if (!t)
        snprintf(why, TEXT_MAX, "it has no slots: %.400s", err.what);
    if (g && order->kind == SLOTS_GPUS)
        gpus_find(g, environ, root);
    if (t && g)
        rc = fill(p, order, t, g);
    if (rc == 0 && t && p->n == 0)
        snprintf(why, TEXT_MAX, "it has no GPU for us, and gets nothing");
    topology_destroy(t);
    free(g);
    if (rc < 0)
        places_clear(p);
    return rc;
}

void places_clear(struct places *p)
{
    for (size_t i = 0; i < p->n && p->place; i++) {
        CPU_FREE(p->place[i].cpus);
        for (size_t k = 0; k < PLACE_WORDS; k++)
            free(p->place[i].environ[k]);
    }
    free(p->place);
    *p = (struct places){.n = 0};
}
