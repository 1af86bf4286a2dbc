/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_times.h - how the time of a step's ranks goes, in its front end: what
 * the nodes tell of it (RANKS) brought together, region by region.
 *
 * A region counts when all ranks of the program have told of it.  Where nodes
 * tell only some of them, each stands for those between.
 *
 * What a node has told ends where its agent is lost while its tasks go on.  It
 * would look idle from then on, so it is left out of what is said of all, and a
 * region counts when the ranks of the others have told of it.  But for whom the
 * others have waited until then is not forgotten.
 */
#ifndef LAUNCHER_SESSION_STEP_TIMES_H
#define LAUNCHER_SESSION_STEP_TIMES_H

#include "launcher/session/session.h"
#include "launcher/session/step_loops.h"
#include "policy/efficiency.h"
#include "policy/verdict.h"

#define STEP_TIMES_PENDING 1024u /* regions of which ranks are missing */

struct step_rank {
    uint32_t rank;
    double useful, waiting, calls; /* ns, ns */
    uint32_t threads; /* 0: how the time of its threads went is not known */
    double busy, room;
    double last; /* regions in which the others waited for it */
    /* As in msg_rank. */
    double io, polled, transfer, unsure, borrowed, lent;
    double cpu, delay, throttled, io_wait;
    uint64_t switches, rss;
    uint32_t state, call;
    double since;
    int64_t died_ns; /* as of clock_ns(); 0: it has not */
    int32_t status;
    struct msg_rank_detail *detail; /* owned; NULL: none */
    double moved_cpu; /* CPU time, when it was seen to have more */
    int64_t moved_ns; /* as of clock_ns() */
};

struct step_node {
    struct efficiency_sum sum; /* of its ranks */
    struct step_rank *rank;    /* n, owned; none if there are too many */
    uint32_t n;
    double last;                 /* regions in which the others waited for it */
    struct efficiency_lost lost; /* by which these lost so much */
    double others_cpu, own_cpu, node_throttled, cpus; /* as in msg_ranks */
    int64_t heard_ns; /* its last message, as of clock_ns() */
    int has_ended;
    int is_lost; /* nobody tells of its tasks, which go on */
};

struct step_region {
    uint64_t number;
    struct efficiency_sum sum; /* ranks 0: no region */
    uint64_t stride;           /* the largest with which it was told */
    size_t last, busiest;      /* their nodes */
};

struct step_times {
    struct session *session;
    size_t n;
    struct step_node *node; /* n */
    size_t ended;           /* nodes of which nothing more comes */
    size_t lost;            /* nodes that are, and their ranks, as they told */
    uint32_t lost_ranks;
    uint32_t size;    /* of the program; 0: not known */
    size_t each;      /* ranks that are held one by one */
    double seen;      /* regions that were told by all */
    double weight;    /* for how many they stand */
    double skew_most; /* ns from the first to the last */
    struct step_sample skew;
    const char *why; /* all ranks were ended, as Slurm says; NULL: not known */
    double transfer; /* ns x ranks: in each region the least waiting of all */
    struct step_region pending[STEP_TIMES_PENDING];
    struct step_loops loops;
    struct msg_ranks in; /* workspace */
};

/* What all of it says. */
struct step_summary {
    struct efficiency_sum all;
    struct efficiency efficiency;
    struct efficiency_tree tree;
    double region_ns;             /* mean length */
    double skew_ns, skew_most_ns; /* median, and the most */
    struct step_iterations iterations;
    struct verdict verdict;
    size_t worst;  /* the node for which the others waited most; may be lost */
    uint32_t rank; /* the one to blame, or its busiest */
    double last;   /* in how many of all regions the node's ranks came last */
    double most_last; /* of the regions, the part in which the same rank did */
    double lost_ranks_ns, lost_nodes_ns; /* waited for that node; or, if the
                                            verdict names none, for anybody */
    double unsure; /* of the time of the rank of which most may be wrong */
};

/* NULL if memory ran out. */
struct step_times *step_times_create(struct session *session);
/* NULL is allowed; the session may be gone. */
void step_times_destroy(struct step_times *t);
/* Take a node's message if it is RANKS; 1 if it was. */
int step_times_message(struct step_times *t,
                       size_t node,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len);
/* Has any node told of a rank? */
int step_times_is_alive(const struct step_times *t);
/* The step is over: ask all nodes that are there for their last word. */
void step_times_ask(struct step_times *t);
/* Nothing more comes from it. */
void step_times_ended(struct step_times *t, size_t node);
/* Its agent is lost, and the step goes on; sum.elapsed is until then. */
void step_times_lost(struct step_times *t, size_t node);
/* It tells again. */
void step_times_returned(struct step_times *t, size_t node);
/* Is that node part of what is said of all?  It is unless it is lost; but if
 * all are, they are. */
int step_times_counts(const struct step_times *t, size_t node);
/* Have all said it? */
int step_times_is_whole(const struct step_times *t);
/* See step_summary.c.  speed of each node, in any unit; NULL: not known.  Of no
 * rank it is all zero.  0, or -1 if memory ran out. */
int step_times_sum(const struct step_times *t,
                   const double speed[],
                   struct step_summary *s);
/* By how much to multiply what a node's or a rank's `last` and `lost` say to
 * get that of all regions. */
double step_times_scale(const struct step_times *t,
                        const struct efficiency_sum *all);

#endif
