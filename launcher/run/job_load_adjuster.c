/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/job_load_adjuster.h"

#include <stdlib.h>
#include <string.h>

static int allocate(struct job_load_adjuster *a, const double value[])
{
    size_t bytes = a->kind->state_bytes(a->n, value);

    a->state = bytes ? malloc(bytes) : NULL;
    a->metric = calloc(a->n, sizeof *a->metric);
    a->load = calloc(a->n, sizeof *a->load);
    return a->state && a->metric && a->load ? 0 : -1;
}

int job_load_adjuster_init(struct job_load_adjuster *a,
                           const struct policy_kind *kind,
                           const double value[],
                           const struct metric metric[],
                           const struct profile *profile,
                           size_t n,
                           struct es_error *err)
{
    struct policy_setup setup = {.n = n, .profile = profile, .value = value};

    memset(a, 0, sizeof *a);
    a->kind = kind;
    a->n = n;
    a->value = value;
    if (allocate(a, value) < 0) {
        job_load_adjuster_clear(a);
        return es_no_memory(err);
    }
    setup.metric = a->metric;
    memcpy(a->metric, metric, n * sizeof *metric);
    if (kind->init(a->state, &setup) < 0) {
        job_load_adjuster_clear(a);
        return es_fail(err, ES_USAGE, "give another --policy",
                       "%s: no node has any load", kind->name);
    }
    kind->loads(a->state, a->load);
    return 0;
}

void job_load_adjuster_clear(struct job_load_adjuster *a)
{
    free(a->state);
    free(a->metric);
    free(a->load);
    memset(a, 0, sizeof *a);
}

int job_load_adjuster_step(struct job_load_adjuster *a,
                           const struct determination *t)
{
    if (a->kind->bundles)
        return 0;
    return a->kind->adjust(a->state, t->completion, t->over, a->load);
}

/* --- nodes come and go ---------------------------------------------------- */

void job_load_adjuster_threads(struct job_load_adjuster *a,
                               size_t node,
                               uint32_t cpus)
{
    if (a->kind->bundles && cpus > 0)
        a->kind->bundles->set_threads(a->state, node, (int32_t)cpus,
                                      (int32_t)cpus);
}

/* The loads that are known, as metrics of one element. */
static int restart(struct job_load_adjuster *a, const struct profile *profile)
{
    struct policy_setup setup = {a->n, a->metric, profile, a->value};

    memset(a->metric, 0, a->n * sizeof *a->metric);
    for (size_t i = 0; i < a->n; i++) {
        a->metric[i].JL = a->metric[i].X[ELEMENT_C] = a->load[i];
        a->metric[i].CU[ELEMENT_C] = 100; /* one element is all */
    }
    if (a->kind->init(a->state, &setup) < 0)
        return -1;
    a->kind->loads(a->state, a->load);
    return 0;
}

int job_load_adjuster_join(struct job_load_adjuster *a,
                           size_t node,
                           const struct metric metric[],
                           struct es_error *err)
{
    const struct profile one = {.influence = {[ELEMENT_C] = 1}};
    double load = 0, known = 0;

    if (a->kind->bundles) {
        a->kind->bundles->join(a->state, node);
        return 0;
    }
    for (size_t i = 0; i < a->n; i++) {
        if (i == node || !(a->load[i] > 0))
            continue;
        load += a->load[i];
        known += metric[i].JL;
    }
    a->load[node] =
        known > 0 ? metric[node].JL * (load / known) : metric[node].JL;
    if (restart(a, &one) < 0)
        return es_fail(err, ES_ENV, "see the warnings above",
                       "no node is left to work");
    return 0;
}
