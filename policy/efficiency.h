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
 * For whom the others waited, in a region or all in all: the one with the most
 * useful time makes each other one wait for what that has less.  It is the one
 * who comes last to the collective that ends the region, and waits least in it;
 * or, where ranks wait for each other before (point to point), they all come at
 * once.  Who comes last without having worked longer has waited itself, as in a
 * pipeline, and nobody is to blame: there is nothing lost by it.
 */
struct efficiency_lost {
    int by_work;         /* 1: it is `busiest`, else `last`, which is late */
    double ranks, nodes; /* rank and node nanoseconds that were waited */
};
struct efficiency_lost efficiency_lost_in(const struct efficiency_sum *all);

/*
 * Where the time of the ranks goes that is not useful, factor by factor:
 *
 *   load balance  = that between nodes x that within them
 *   communication = serialisation x transfer
 *
 * between nodes: mean useful / that of the node's whose ranks have most (mean);
 * transfer: what is left of the elapsed time without what messages take that
 * nobody is late for; serialisation: most useful / that.
 */
enum efficiency_factor {
    EFFICIENCY_NODES,
    EFFICIENCY_WITHIN,
    EFFICIENCY_SERIALISATION,
    EFFICIENCY_TRANSFER,
    EFFICIENCY_THREADS,
    EFFICIENCY_FACTORS
};

struct efficiency_tree {
    double factor[EFFICIENCY_FACTORS]; /* 0..1; their product is `parallel` */
    double lost[EFFICIENCY_FACTORS];   /* rank-ns; with the useful part of them
                                          they are ranks x elapsed */
};

/*
 *   nodes     most that the ranks of a node have of useful time, as their mean;
 *             0: not known
 *   transfer  rank-ns that messages took, of all ranks
 */
struct efficiency_tree efficiency_tree_of(const struct efficiency_sum *all,
                                          double nodes,
                                          double transfer);

#endif
