/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/job_load_adjuster.h"

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
    if (allocate(a, value) < 0) {
        job_load_adjuster_clear(a);
        return es_fail(err, ES_ENV, "free some memory", "out of memory");
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
    return a->kind->adjust(a->state, t->completion, t->over, a->load);
}
