/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph.h - a task graph, and what follows from it alone.
 *
 * A task takes time; an edge u -> v says that v needs what u makes, and takes
 * comm if the two run on different processors, nothing otherwise.  Tasks are
 * numbered by their place in the input; times are whole nanoseconds, so that
 * ties are exact.
 *
 * The algorithms for task graphs are those of CN 103235742, dependence grouping
 * of task paths on multi-core processors, and what it builds on: S. Darbha and
 * D. P. Agrawal, Optimal Scheduling Algorithm for Distributed-Memory Machines,
 * IEEE TPDS 9 (1), 1998 (TDS), and Z. Zong, A. Manzanares, X. Ruan and X. Qin,
 * EAD and PEBD: Two Energy-Aware Duplication Scheduling Algorithms for Parallel
 * Tasks on Homogeneous Clusters, IEEE Transactions on Computers 60 (3), 2011.
 */
#ifndef POLICY_GRAPH_H
#define POLICY_GRAPH_H

#include <stdint.h>

#define GRAPH_NOBODY    UINT32_MAX /* no task */
#define GRAPH_TASKS_MAX (1u << 20) /* so that indices and sums stay small */
#define GRAPH_EDGES_MAX (1u << 24) /* likewise */
#define GRAPH_TOTAL_MAX (INT64_C(1) << 61) /* ns of all times and comms */
#define GRAPH_NS_PER_S  1e9

struct graph_edge {
    uint32_t from, to;
    int64_t comm; /* ns */
};

/* The other end of an edge. */
struct graph_link {
    uint32_t task;
    int64_t comm;
};

/* What a task needs of the processor that it runs on. */
struct graph_need {
    uint32_t cores; /* at least 1 */
    double memory;  /* bytes; 0: not known */
};

/*
 * Made by graph_create(), only read afterwards.  The predecessors of v are
 * pred[pred_at[v] .. pred_at[v + 1]), ascending; likewise successors.
 */
struct graph {
    uint32_t tasks, edges; /* parallel edges are one, their comms added */
    uint32_t *pred_at, *succ_at;
    struct graph_link *pred, *succ;
    uint32_t *fpred; /* favourite predecessor, or GRAPH_NOBODY */
    uint32_t *rank;  /* place in ranked[] */
    /* All tasks by level, descending, then topologically: the order on every
       core, and a linear extension of the graph. */
    uint32_t *ranked;
    int64_t *time, *level;   /* level: longest way to an end, no comm in it */
    int64_t *est, *ect;      /* earliest start, completion */
    int64_t *last, *lact;    /* latest allowable start, completion */
    int64_t ideal;           /* largest ect */
    int64_t total;           /* of all times and comms */
    struct graph_need *need; /* by task; NULL: one core each */
};

enum graph_fault {
    GRAPH_SOUND,
    GRAPH_TASKS,    /* none, or more than GRAPH_TASKS_MAX */
    GRAPH_EDGES,    /* more than GRAPH_EDGES_MAX */
    GRAPH_TASK,     /* a time that is negative */
    GRAPH_EDGE,     /* an end that is no task, or a negative comm */
    GRAPH_TOO_LONG, /* the sum is above GRAPH_TOTAL_MAX */
    GRAPH_CYCLE,
    GRAPH_MEMORY,
};

/*
 * Check and take over a graph of n tasks with times time[] and m edges.
 *
 *   place  NULL, or where the fault is: number of the task, or of the edge;
 *          of a cycle one task on it
 *
 * Returns GRAPH_SOUND, or what is wrong; then *g is NULL.
 * O(n log n + m).
 */
enum graph_fault graph_create(struct graph **g,
                              const int64_t time[],
                              uint32_t n,
                              const struct graph_edge edge[],
                              uint32_t m,
                              uint32_t *place);
void graph_destroy(struct graph *g);

/* Say what the tasks need; need[] is copied.  0, or -1 without memory. */
int graph_set_needs(struct graph *g, const struct graph_need need[]);

#endif
