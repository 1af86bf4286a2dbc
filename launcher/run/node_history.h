/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node_history.h - what the nodes of a job have measured, a line a run or
 * step, which spares the job's next ones the probe:
 *
 *   {"release": "0.2.0", "cluster": "c", "job": 7, "step": 0,
 *    "time": 1795257600, "whole": true, "nodes": [{"node": "n0", "boot_id": "…", "cpus": 4,
 *    "hardware": "…", "probe": {…}}, …]}
 *
 * in $XDG_STATE_HOME/evenstep/nodes, or below ~/.local/state; probe as in
 * probe_json.h.
 *
 * In its job a node has the CPUs and the limits that it had then, which is what
 * a probe is for.  That it is the same job is known by the cluster, its number,
 * and a step of it that came earlier: a cluster that is set up anew counts its
 * jobs from 1 again, and their steps from 0.  A node must not have booted since,
 * and have as many CPUs.
 *
 * Until a node of another job is measured, what it was in the newest run of the
 * cluster is the best guess; of runs that have measured all their nodes, which is
 * what whole means.
 *
 * It only ever helps: what is wrong with it costs a probe, never a run.
 */
#ifndef LAUNCHER_RUN_NODE_HISTORY_H
#define LAUNCHER_RUN_NODE_HISTORY_H

#include "launcher/session/node.h"

#include <jansson.h>
#include <stdint.h>

#define NODE_HISTORY_BYTES_MOST (1u << 19)
#define NODE_HISTORY_NODES_MOST 256 /* of a run; 400 bytes each are usual */

/* Which run it is. */
struct node_history_key {
    const char *release; /* of evenstep */
    const char *cluster;
    uint32_t job, step; /* its agents' */
    int is_same_step;   /* they are those of a run before */
    int64_t now_s;      /* since 1970 */
    int64_t ttl_s;      /* what is older is not to be used */
};

struct node_history {
    json_t *nodes;  /* NULL: nothing is known */
    json_t *newest; /* of the newest run, whatever its job; likewise */
};

/* What is known of the nodes of the job; node_history_clear() ends it. */
void node_history_read(struct node_history *h,
                       const struct node_history_key *key);
/* One line of it, ended with a NUL: taken if it is of the job.  Pure. */
void node_history_line(struct node_history *h,
                       const struct node_history_key *key,
                       const char *line);
/* Likewise a line for the guess: taken if it is of the cluster.  Pure. */
void node_history_newest(struct node_history *h,
                         const struct node_history_key *key,
                         const char *line);
/* What this node has measured, which is h's, or NULL; *hardware likewise. */
json_t *node_history_find(const struct node_history *h,
                          const struct node *node,
                          const char **hardware);
/* What it may be, likewise, by its name and CPUs. */
json_t *node_history_guess(const struct node_history *h,
                           const struct node *node);
/* What the node of that rank may be, and its name, if the newest run had n nodes,
 * likewise. */
json_t *node_history_rank(const struct node_history *h,
                          size_t rank,
                          size_t n,
                          const char **name);
void node_history_clear(struct node_history *h);

/* Append what the nodes, or of a whole run all of them, have measured; nodes, of
 * node_records_new(), is released.  0, or -1 with errno. */
int node_history_append(const struct node_history_key *key,
                        json_t *nodes,
                        int is_whole);

#endif
