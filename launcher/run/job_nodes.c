/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/job_nodes.h"
#include "launcher/session/node_records.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* 0, or -1 if there is nothing to know. */
static int make_key(struct node_history_key *key,
                    const struct qualification_setup *setup,
                    const struct session *session)
{
    const char *cluster = getenv("SLURM_CLUSTER_NAME");

    if ((setup->source != METRICS_PROBE && setup->source != METRICS_CACHED)
        || setup->ring)
        return -1;
    *key = (struct node_history_key){
        .release = EVENSTEP_VERSION,
        .cluster = cluster ? cluster : "",
        .is_same_step = session_is_recalled(session),
        .now_s = (int64_t)time(NULL),
        .ttl_s = setup->probe->ttl_s,
    };
    session_job(session, &key->job, &key->step);
    return key->job > 0 ? 0 : -1;
}

static json_t *on_known(void *arg,
                        const struct node *node,
                        const char **hardware)
{
    return node_history_find(arg, node, hardware);
}

/* Of one that is not here yet only its rank is known; it is who had that in the
 * newest run, if those that are here are, too. */
static json_t *on_guess(void *arg, const struct session *session, size_t node)
{
    size_t n = session_start_size(session);
    const char *name;

    if (!session_is_awaited(session, node))
        return node_history_guess(arg, session_node(session, node));
    for (size_t i = 0; i < n; i++)
        if (!session_is_awaited(session, i)
            && (!node_history_rank(arg, i, n, &name)
                || strcmp(name, session_node(session, i)->name) != 0))
            return NULL;
    return node_history_rank(arg, node, n, &name);
}

void job_nodes_find(struct node_history *h,
                    struct qualification_setup *setup,
                    const struct session *session)
{
    struct node_history_key key;

    if (make_key(&key, setup, session) < 0)
        return;
    node_history_read(h, &key);
    setup->known = on_known;
    setup->guess = on_guess;
    setup->known_arg = h;
}

void job_nodes_keep(const struct qualification *q)
{
    struct node_history_key key;
    json_t *nodes;

    if (q->known > NODE_HISTORY_NODES_MOST
        || make_key(&key, q->setup, q->session) < 0)
        return;
    nodes = node_records_new(q);
    if (nodes)
        (void)node_history_append(
            &key, nodes,
            json_array_size(nodes)
                == session_start_size(q->session)); /* it only helps */
}
