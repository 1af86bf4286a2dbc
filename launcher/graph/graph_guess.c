/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_guess.h"

#include <stdlib.h>

int graph_timing_init(struct graph_timing *t, uint32_t n)
{
    *t = (struct graph_timing){0};
    t->seconds = calloc(n + (size_t)1, sizeof *t->seconds);
    t->kind = calloc(n + (size_t)1, sizeof *t->kind);
    if (!t->seconds || !t->kind)
        return -1;
    for (uint32_t v = 0; v < n; v++)
        t->seconds[v] = -1;
    return 0;
}

void graph_timing_clear(struct graph_timing *t)
{
    free(t->seconds);
    free(t->kind);
    *t = (struct graph_timing){0};
}

struct mean {
    double sum;
    uint32_t n;
};

static double mean_of(const struct mean *m)
{
    return m->n > 0 ? m->sum / m->n : -1;
}

/* The time of a task that is not known; below 0: nothing is. */
static double guess_one(struct graph_understood *u,
                        const struct mean *kind,
                        const struct mean *all,
                        double given)
{
    if (kind->n > 0) {
        u->guessed_kind++;
        return mean_of(kind);
    }
    if (given > 0) {
        u->guessed_given++;
        return given;
    }
    u->guessed_all++;
    return mean_of(all);
}

static int give_times(struct graph_draft *d,
                      const struct graph_timing *t,
                      const struct graph_reading *how,
                      const struct mean kind[],
                      struct es_error *err)
{
    uint32_t n = (uint32_t)json_array_size(d->ids);
    const struct mean *all = &kind[t->kinds];
    double sum = 0;

    for (uint32_t v = 0; v < n; v++) {
        double seconds = t->seconds[v];

        if (seconds < 0)
            seconds =
                guess_one(&d->understood, &kind[t->kind[v]], all, how->guess);
        if (seconds < 0)
            return draft_fail(d, "tasks",
                              "give --times REPORT, or --guess SECONDS",
                              "no time of any is known", err);
        if (draft_set_time(d, "tasks", v, seconds, err) < 0)
            return -1;
        sum += seconds;
    }
    return n > 0 ? draft_set_comms(d, "edges", how->ccr * sum / n, err) : 0;
}

int graph_guess(struct graph_draft *d,
                const struct graph_timing *t,
                const struct graph_reading *how,
                struct es_error *err)
{
    uint32_t n = (uint32_t)json_array_size(d->ids);
    /* The last is that of all. */
    struct mean *kind = calloc(t->kinds + (size_t)1, sizeof *kind);
    int rc;

    if (!kind)
        return es_no_memory(err);
    for (uint32_t v = 0; v < n; v++)
        if (t->seconds[v] >= 0) {
            kind[t->kind[v]].sum += t->seconds[v];
            kind[t->kind[v]].n++;
            /* A target does nothing: it is no example. */
            kind[t->kinds].sum += t->seconds[v];
            kind[t->kinds].n += t->seconds[v] > 0;
        }
    rc = give_times(d, t, how, kind, err);
    free(kind);
    return rc;
}
