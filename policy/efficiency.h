/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * efficiency.h - how well the ranks of a program use their time, and for whom
 * they wait.
 *
 * A rank's time is useful, or it waits in a call of MPI.  With that
 *
 *   load balance              = mean useful / most useful
 *   communication efficiency  = most useful / elapsed
 *   parallel efficiency       = load balance x communication efficiency
 *
 * as the POP centre of excellence defines them ("POP Standard Metrics for
 * Parallel Performance Analysis", pop-coe.eu) and BSC's TALP reports them of a
 * program that runs (Lopez, Ramirez Miranda, Garcia-Gasulla, "TALP", ESSA 2021).
 *
 * Where ranks have threads, the useful time of a rank is that of the one which
 * calls MPI, and the others may wait in it.  Then there is
 *
 *   thread efficiency         = busy time of all threads / room that they had
 *   parallel efficiency       = the product of all three
 *
 * the OpenMP parallel efficiency of POP's hybrid model ("POP Standard Metrics
 * for Performance Analysis of Hybrid Parallel Applications"): the room of a rank
 * is its useful time, as often as it has threads.
 *
 * Pure.  Times are nanoseconds, >= 0; ranks of a node are numbered by the
 * program.
 */
#ifndef POLICY_EFFICIENCY_H
#define POLICY_EFFICIENCY_H

#include <stddef.h>
#include <stdint.h>

/* Some ranks' time, of a node's or of all.  All zero: of none. */
struct efficiency_sum {
    uint32_t ranks;
    uint32_t busiest, last;  /* which rank has `most`, and `least` */
    double useful, waiting;  /* added up */
    double most;             /* useful, of the rank that has most */
    double least, longest;   /* waiting, of those that have least and most */
    double elapsed;          /* of the rank that took longest */
    double calls, regions;   /* added up; of the rank that has most */
    uint32_t threads;        /* of these ranks, where their time is known */
    double busy, room;       /* of them, see above; room 0: not known of any */
    double nodes;            /* that have a rank, and over them the sum of */
    double n_useful, n_wait; /* the mean of a node's ranks */
};

struct efficiency {
    double balance, communication, threads, parallel; /* 0..1 */
};

/* Add a rank to the others of its node. */
void efficiency_add_rank(struct efficiency_sum *s,
                         uint32_t rank,
                         double useful,
                         double waiting);
/* Of a rank that was added, how the time of its threads went. */
void efficiency_add_threads(struct efficiency_sum *s,
                            uint32_t threads,
                            double busy,
                            double room);
/* Add a node's to the others'. */
void efficiency_add_node(struct efficiency_sum *all,
                         const struct efficiency_sum *node);
/* Of no rank, or no time, all are 0. */
struct efficiency efficiency_of(const struct efficiency_sum *s);

/*
 * For whom the others waited, in a region or all in all.  The one who comes
 * last to the collective that ends a region waits least in it, and makes each
 * other one wait for what that waits beyond.  Where ranks wait for each other
 * before (point to point) they all come at once; it is then the one with the
 * most useful time, as the region took the same time for all of them.
 */
struct efficiency_lost {
    int by_work;         /* 1: it is `busiest`, else `last` */
    double ranks, nodes; /* rank and node nanoseconds that were waited */
};
struct efficiency_lost efficiency_lost_in(const struct efficiency_sum *all);

/* Why a rank is late. */
enum efficiency_cause {
    EFFICIENCY_EVEN,      /* it is not */
    EFFICIENCY_SLOW_NODE, /* all ranks of its node are, which is slow */
    EFFICIENCY_NODE_WORK, /* its node is not slow: they have more to do */
    EFFICIENCY_NODE,      /* one of both: nobody knows how fast the node is */
    EFFICIENCY_RANK_WORK, /* it has more to do than others of its node */
};

struct efficiency_reason {
    enum efficiency_cause cause;
    double longer; /* useful time of its node's other ranks, as a multiple of
                      that of other nodes' */
    double apart;  /* its own as a multiple of theirs */
    double speed;  /* of the node as a multiple of the others'; 0: not known */
};

/* A rank that takes no more than this times as long is no reason. */
#define EFFICIENCY_ALIKE 1.05

/*
 * Judge the busiest rank of node[who].
 *
 *   speed  of each node, in any unit; NULL or 0: not known
 *
 * Its time as a multiple of the others' is that of its node, and that within
 * its node; that of the node is work / speed.  The largest of these factors is
 * the cause.  O(n).
 */
struct efficiency_reason efficiency_judge(const struct efficiency_sum node[],
                                          const double speed[],
                                          size_t n,
                                          size_t who);

#endif
