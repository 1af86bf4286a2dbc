/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/places.h"
#include "launcher/agent/gpus.h"
#include "launcher/agent/job_memory.h"
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

/* n of them. */
static int name_gpus(struct place *to,
                     const struct gpus *g,
                     const size_t which[],
                     size_t n)
{
    size_t len;
    FILE *text = open_memstream(&to->environ[0], &len);

    if (!text)
        return -1;
    (void)fprintf(text, "%s=", g->variable);
    for (size_t k = 0; k < n; k++)
        (void)fprintf(text, "%s%s", k > 0 ? "," : "", g->gpu[which[k]].word);
    if (fclose(text) != 0)
        return -1;
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

/* Those of each are neighbours, around the end. */
static int take_gpus(struct places *p,
                     const struct topology *t,
                     const struct gpus *g,
                     size_t width)
{
    size_t which[GPUS_MAX];
    int rc = 0;

    for (size_t i = 0; i < p->n && rc == 0; i++) {
        for (size_t k = 0; k < width && k < GPUS_MAX; k++)
            which[k] = (i * width + k) % g->n;
        rc = name_gpus(&p->place[i], g, which, width);
        if (rc == 0)
            rc = take_near(&p->place[i], t, g, which[0]);
    }
    return rc;
}

/* --- both ----------------------------------------------------------------- */

static size_t width_of(const struct msg_slots *order)
{
    return order->width > 0 ? order->width : 1;
}

/* As many as there are cores, sockets or GPUs for. */
static size_t count_kind(const struct msg_slots *order,
                         const struct topology *t,
                         const struct gpus *g)
{
    const struct topology_shape *has = topology_shape(t);
    size_t cores = has->cores > 0 ? has->cores : has->cpus;

    if (order->kind == SLOTS_PART)
        return cores * order->n < 100 ? 1 : cores * order->n / 100;
    if (order->kind == SLOTS_GPUS)
        return (order->n > 0 && g->n >= width_of(order))
                   ? order->n
                   : g->n / width_of(order);
    if (order->n > 0)
        return order->n;
    if (order->kind == SLOTS_SOCKETS)
        return has->sockets;
    return cores / width_of(order);
}

static size_t count(const struct msg_slots *order,
                    const struct topology *t,
                    const struct gpus *g,
                    uint64_t memory)
{
    size_t n = count_kind(order, t, g);

    if (order->memory > 0 && memory / order->memory < n)
        n = (size_t)(memory / order->memory);
    return n < NODE_SLOTS_MAX ? n : NODE_SLOTS_MAX;
}

/* Programs that know OpenMP would start a thread for each core of the node. */
static int name_threads(struct place *to, size_t width, char *const environ[])
{
    char **word = &to->environ[PLACE_WORDS - 1];

    for (; *environ; environ++)
        if (strncmp(*environ, "OMP_NUM_THREADS=", 16) == 0)
            return 0;
    if (asprintf(word, "OMP_NUM_THREADS=%zu", width) >= 0)
        return 0;
    *word = NULL;
    return -1;
}

static int fill(struct places *p,
                const struct msg_slots *order,
                const struct topology *t,
                const struct gpus *g,
                char *const environ[])
{
    int rc;

    if (p->n == 0)
        return 0;
    p->place = calloc(p->n, sizeof *p->place);
    p->holder = calloc(p->n, sizeof *p->holder);
    p->held = calloc(p->n, sizeof *p->held);
    p->gpu_holder = calloc(g->n + 1, sizeof *p->gpu_holder);
    if (!p->place || !p->holder || !p->held || !p->gpu_holder)
        return -1;
    if (order->kind == SLOTS_GPUS)
        return take_gpus(p, t, g, width_of(order));
    rc = take_cpus(p, t, (enum slots_kind)order->kind);
    for (size_t i = 0; i < p->n && rc == 0 && order->width > 0; i++)
        rc = name_threads(&p->place[i], order->width, environ);
    return rc;
}

/* Why there is no place. */
static void say_none(const struct msg_slots *order,
                     const struct topology *t,
                     const struct gpus *g,
                     uint64_t memory,
                     char why[TEXT_MAX])
{
    const struct topology_shape *has = topology_shape(t);

    if (order->memory > memory)
        snprintf(why, TEXT_MAX,
                 "it has %ju MiB for the job, and --mem asks for %ju: it gets "
                 "nothing",
                 (uintmax_t)(memory >> 20), (uintmax_t)(order->memory >> 20));
    else if (order->kind != SLOTS_GPUS)
        snprintf(why, TEXT_MAX,
                 "it has %u cores for the job, and --cpus asks for %u: it gets "
                 "nothing",
                 has->cores > 0 ? has->cores : has->cpus, order->width);
    else if (g->n > 0)
        snprintf(why, TEXT_MAX,
                 "it has %zu GPUs for us, and --gpus asks for %u: it gets "
                 "nothing",
                 g->n, order->width);
    else
        snprintf(why, TEXT_MAX, "it has no GPU for us, and gets nothing");
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
    uint64_t memory = job_memory(environ, "/proc", "/sys");
    int rc = g ? 0 : -1;

    *p = (struct places){.memory = memory, .gpus = g};
    why[0] = '\0';
    if (!t)
        snprintf(why, TEXT_MAX, "it has no slots: %.400s", err.what);
    if (g)
        gpus_find(g, environ, root);
    if (t && g) {
        p->n = count(order, t, g, memory);
        rc = fill(p, order, t, g, environ);
    }
    if (rc == 0 && t && g && p->n == 0)
        say_none(order, t, g, memory, why);
    topology_destroy(t);
    if (rc < 0)
        places_clear(p);
    return rc;
}

static void clear_place(struct place *place)
{
    CPU_FREE(place->cpus);
    for (size_t k = 0; k < PLACE_WORDS; k++)
        free(place->environ[k]);
    *place = (struct place){.cpus = NULL};
}

void places_clear(struct places *p)
{
    for (size_t i = 0; i < p->n; i++) {
        if (p->place)
            clear_place(&p->place[i]);
        if (p->held)
            clear_place(&p->held[i]);
    }
    free(p->place);
    free(p->holder);
    free(p->held);
    free(p->gpus);
    free(p->gpu_holder);
    *p = (struct places){.n = 0};
}

/* --- several together ----------------------------------------------------- */

/* Places that a slot's task has, or has to share; returns how many. */
static uint32_t hold(struct places *p, uint32_t slot, uint32_t n, int is_shared)
{
    cpu_set_t *all = p->held[slot].cpus;
    uint32_t got = 0;

    for (size_t k = 0; k < p->n && got < n; k++) {
        size_t i = (slot + k) % p->n;

        if ((p->holder[i] != 0) != is_shared || p->holder[i] == slot + 1)
            continue;
        if (!is_shared)
            p->holder[i] = slot + 1;
        if (p->place[i].cpus)
            CPU_OR_S(CPUS_BYTES, all, all, p->place[i].cpus);
        got++;
    }
    return got;
}

/* As hold() does it with places: n GPUs, free ones first.  Of none that there are the
 * task sees none, where it looks for one. */
static int hold_gpus(struct places *p, uint32_t slot, uint32_t n)
{
    size_t which[GPUS_MAX], got = 0;

    if (p->gpus->n == 0)
        return 0;
    for (int is_shared = 0; is_shared <= 1; is_shared++)
        for (size_t i = 0; i < p->gpus->n && got < n; i++) {
            uint32_t *holder = &p->gpu_holder[i];

            if ((*holder != 0) != is_shared || *holder == slot + 1)
                continue;
            *holder = slot + 1; /* who had it was cancelled, and is ending */
            which[got++] = i;
        }
    return name_gpus(&p->held[slot], p->gpus, which, got);
}

const struct place *places_take(struct places *p,
                                uint32_t slot,
                                uint32_t cores,
                                uint32_t gpus,
                                char *const environ[])
{
    struct place *to = &p->held[slot];
    uint32_t got;

    places_leave(p, slot);
    if (cores == 0) {
        p->holder[slot] = p->holder[slot] ? p->holder[slot] : slot + 1;
        return &p->place[slot];
    }
    if (!make_set(to) || name_threads(to, cores, environ) < 0
        || (gpus > 0 && hold_gpus(p, slot, gpus - 1) < 0))
        return NULL;
    CPU_ZERO_S(CPUS_BYTES, to->cpus);
    got = hold(p, slot, cores, 0);
    (void)hold(p, slot, cores - got,
               1); /* a task that was cancelled still ends */
    if (CPU_COUNT_S(CPUS_BYTES, to->cpus) == 0) { /* all share all */
        CPU_FREE(to->cpus);
        to->cpus = NULL;
    }
    return to;
}

void places_leave(struct places *p, uint32_t slot)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->holder[i] == slot + 1)
            p->holder[i] = 0;
    for (size_t i = 0; p->n > 0 && i < p->gpus->n; i++)
        if (p->gpu_holder[i] == slot + 1)
            p->gpu_holder[i] = 0;
    clear_place(&p->held[slot]);
}
