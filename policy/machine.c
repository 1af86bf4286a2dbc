/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/machine.h"

#include <math.h>

uint32_t machine_width_needed(const struct machine *m,
                              const struct graph_need *need,
                              uint32_t processor)
{
    uint32_t cores = machine_cores(m, processor), width = 1;
    double bytes = m->kind ? m->kind[processor].core_bytes : m->core_bytes;

    if (need->cores > width)
        width = need->cores;
    if (bytes > 0) {
        double part = ceil(need->memory / bytes);

        if (part > (double)cores)
            return 0;
        if (part > (double)width)
            width = (uint32_t)part;
    }
    return width <= cores ? width : 0;
}

uint32_t machine_misfit(const struct machine *m, const struct graph *g)
{
    uint32_t processors = m->kind ? m->processors : 1;

    for (uint32_t v = 0; g->need && v < g->tasks; v++) {
        uint32_t p = 0;

        while (p < processors && machine_width(m, g, v, p) == 0)
            p++;
        if (p == processors)
            return v;
    }
    return GRAPH_NOBODY;
}

static int are_alike(const struct machine *m)
{
    for (uint32_t p = 0; m->kind && p < m->processors; p++) {
        const struct processor_kind *k = &m->kind[p];

        if (k->cores != m->cores || k->slowness > 1 || k->slowness < 1)
            return 0;
    }
    return 1;
}

/* Does each task need one core of any processor, and no more? */
static int are_narrow(const struct graph *g, const struct machine *m)
{
    double least = !m->kind && m->core_bytes > 0 ? m->core_bytes : INFINITY;

    for (uint32_t p = 0; m->kind && p < m->processors; p++)
        if (m->kind[p].core_bytes > 0 && m->kind[p].core_bytes < least)
            least = m->kind[p].core_bytes;
    for (uint32_t v = 0; g->need && v < g->tasks; v++)
        if (g->need[v].cores > 1 || g->need[v].memory > least)
            return 0;
    return 1;
}

int machine_is_plain(const struct machine *m, const struct graph *g)
{
    return are_alike(m) && are_narrow(g, m);
}

/* Where the task fits and least is to be done; the processors' number: nowhere.
 */
static uint32_t find_seat(const struct machine *m,
                          const struct graph *g,
                          uint32_t v,
                          const double load[])
{
    uint32_t best = m->processors;

    for (uint32_t p = 0; p < m->processors; p++)
        if (machine_width(m, g, v, p) > 0
            && (best == m->processors || load[p] < load[best]))
            best = p;
    return best;
}

/* Is the task on the processor already? */
static int is_seated(const struct seating *s,
                     const struct instance instance[],
                     const struct instance *x)
{
    uint32_t i = s->first[x->task];

    while (i != GRAPH_NOBODY && instance[i].processor != x->processor)
        i = s->next[i];
    return i != GRAPH_NOBODY;
}

static void seat_on(const struct machine *m,
                    const struct graph *g,
                    struct instance *x,
                    const struct seating *s)
{
    uint32_t cores = machine_cores(m, x->processor);
    uint32_t width = machine_width(m, g, x->task, x->processor);

    x->core %= cores;
    if (x->core > cores - width)
        x->core = cores - width;
    s->load[x->processor] +=
        (double)machine_time(m, g->time[x->task], x->processor) * width / cores;
}

uint32_t machine_seat(const struct machine *m,
                      const struct graph *g,
                      struct instance instance[],
                      uint32_t n,
                      const struct seating *s)
{
    uint32_t left = 0;

    for (uint32_t v = 0; v < g->tasks; v++)
        s->first[v] = GRAPH_NOBODY;
    for (uint32_t p = 0; p < m->processors; p++)
        s->load[p] = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct instance x = instance[i];

        if (machine_width(m, g, x.task, x.processor) == 0)
            x.processor = find_seat(m, g, x.task, s->load);
        if (x.processor == m->processors)
            return 0;
        if (is_seated(s, instance, &x))
            continue;
        seat_on(m, g, &x, s);
        s->next[left] = s->first[x.task];
        s->first[x.task] = left;
        instance[left++] = x;
    }
    return left;
}
