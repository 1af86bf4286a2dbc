/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node_ranks.h - adds up what the ranks of a node tell that are metered from
 * outside (struct meter_rank): how the node got on, as one.
 *
 * The slowest rank stands for the node, or the mean, or the median.  Its work
 * is the useful time of each region, as the rank has written it: exact, however
 * short the regions are.  What it has done counts in time of the program, the
 * same on all nodes: from one end of a region to the next, as seen by the node
 * itself.  So done / work, over any time, says how fast nodes are beside each
 * other, whatever regions the program has.
 *
 * In a region that lasts longer than a second nothing ends for long.  Then the
 * CPU time that a rank has had in it, beside what it had in the last such
 * region, tells how far it is; a node whose CPUs are taken away is seen at
 * once.  The time of such a region counts as that of the last one.
 */
#ifndef LAUNCHER_METER_NODE_RANKS_H
#define LAUNCHER_METER_NODE_RANKS_H

#include "launcher/libevenstep/meter_page.h"
#include "launcher/meter/meter_track.h"
#include "policy/aggregate.h"

/* CPU time of a process in ns; -1 if it cannot be told. */
typedef int64_t (*node_ranks_cpu_fn)(uint32_t pid);

struct node_rank {
    uint32_t owner; /* 0: no rank */
    struct meter_time time;
    double useful_ns; /* until the last sample */
    double mark_ns;   /* until the end of the last region */
    double total_ns;  /* in all regions since the ranks were the same */
    int64_t cpu_ns;   /* when it was last looked at */
    double cpu_useful_ns;
    double region_cpu_ns; /* in this region, while useful */
    double long_cpu_ns;   /* in the last long one; 0: there was none */
};

struct node_ranks {
    enum aggregate how; /* set by the caller, as cpu */
    node_ranks_cpu_fn cpu;
    uint32_t n;         /* ranks */
    int is_begun;       /* a region has ended since they are the same */
    uint64_t ends;      /* regions that all of them have ended */
    uint64_t first;     /* of these when it began */
    double done_ns;     /* since then, from 1 on */
    double work_ns;     /* likewise */
    double part;        /* of this region is done, if it is known */
    double part_ns;     /* its work so far, then */
    double long_ns;     /* what the last long region took; 0: none */
    int is_part_known;  /* as this region is long, and another one was */
    int is_waiting;     /* all ranks, for long */
    int is_cpu_counted; /* of this region */
    int64_t end_ns;     /* when the last region ended */
    int64_t seen_ns;    /* the last sample */
    int64_t cpu_seen_ns, alive_ns;
    struct node_rank rank[METER_SLOTS];
    double value[METER_SLOTS]; /* to aggregate */
};

/* Read the page at this time. */
enum meter_change node_ranks_update(struct node_ranks *node,
                                    const struct meter_page *page,
                                    int64_t now);
/* Is the slot that of a rank, as of the last update? */
int node_ranks_has(const struct node_ranks *node, uint32_t slot);
/* Regions since it began. */
double node_ranks_progress(const struct node_ranks *node);
/* Useful time in these. */
double node_ranks_work_ns(const struct node_ranks *node);
/* Time of the program in these, 1 at first; 0: it has not begun. */
double node_ranks_done_ns(const struct node_ranks *node);
/* The same, of what is left of a long region; 0: not known. */
double node_ranks_left_ns(const struct node_ranks *node);
/* Of the ranks' speeds. */
double node_ranks_skew(struct node_ranks *node);
/* CPU time of a process, by its clock. */
int64_t node_ranks_cpu_ns(uint32_t pid);

#endif
