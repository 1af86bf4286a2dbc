/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_measured.h"
#include "launcher/session/node_records.h"

#include <stdlib.h>
#include <time.h>

/* 0, or -1 if there is nothing to know. */
static int make_key(const struct run *r, struct node_history_key *key)
{
    const char *cluster = getenv("SLURM_CLUSTER_NAME");

    *key = (struct node_history_key){
        .release = EVENSTEP_VERSION,
        .cluster = cluster ? cluster : "",
        .is_same_step = session_is_recalled(r->front.session),
        .now_s = (int64_t)time(NULL),
        .ttl_s = r->config->probe.ttl_s,
    };
    session_job(r->front.session, &key->job, &key->step);
    return key->job > 0 && r->o->metrics == METRICS_PROBE && !r->qualify.ring
               ? 0
               : -1;
}

static json_t *on_known(void *arg,
                        const struct node *node,
                        const char **hardware)
{
    return node_history_find(arg, node, hardware);
}

void run_measured_find(struct run *r)
{
    struct node_history_key key;

    if (r->o->metrics_now || make_key(r, &key) < 0)
        return;
    node_history_read(&r->node_history, &key);
    r->qualify.known = on_known;
    r->qualify.known_arg = &r->node_history;
}

void run_measured_keep(struct run *r)
{
    const struct qualification *q = &r->qualification;
    struct node_history_key key;
    json_t *nodes;

    if (q->known > NODE_HISTORY_NODES_MOST || make_key(r, &key) < 0)
        return;
    nodes = node_records_new(q);
    if (nodes)
        (void)node_history_append(&key, nodes); /* it only helps */
}

void run_measured_clear(struct run *r)
{
    node_history_clear(&r->node_history);
}
