/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verdict.h - why the ranks of a program wait: one sentence's worth, and who is
 * to blame for it, if anybody is.
 *
 * Nobody is guilty of a difference that is within the noise of what was
 * measured, nor of being last where it has waited itself.  A rank is late for
 * one of these:
 *
 *   it used more CPU time      more work; or a slow node, if its probe says so
 *   it had to wait for a CPU   a quota, other processes, its own threads
 *   neither                    I/O, sleep, a GPU
 *
 * For its useful time as a multiple of the others' is that of its CPU time
 * there, times that of the time that a second of CPU took it.  The larger one is
 * the cause.
 *
 * Pure.  Times are nanoseconds, >= 0.
 */
#ifndef POLICY_VERDICT_H
#define POLICY_VERDICT_H

#include "policy/efficiency.h"

enum verdict_cause {
    VERDICT_EVEN,
    VERDICT_WORK,          /* more to do */
    VERDICT_LESS,          /* a few have less to do, and wait for all others */
    VERDICT_CPU,           /* no CPU, see `who` */
    VERDICT_SLOW,          /* a slow node */
    VERDICT_UNKNOWN,       /* slow, or more to do: nothing was measured */
    VERDICT_MOVES,         /* another one is last each time */
    VERDICT_SERIALISATION, /* ranks wait for each other in turn */
    VERDICT_TRANSFER,      /* the network carries */
    VERDICT_IO,
    VERDICT_DIED, /* by the caller */
};

enum verdict_who {
    VERDICT_NOBODY,
    VERDICT_OTHERS, /* other processes of the node */
    VERDICT_QUOTA,
    VERDICT_OWN, /* the step's own threads: more than there are CPUs */
};

struct verdict_rank {
    uint32_t rank;
    size_t node;
    double useful, waiting;
    double io;                             /* of waiting */
    double cpu, delay, throttled, io_wait; /* cpu 0: not known */
};

struct verdict_node {
    double speed; /* in any unit; 0: not known */
    double others_cpu, own_cpu, throttled, cpus;
};

struct verdict_in {
    const struct verdict_rank *rank; /* n, ordered by node */
    size_t n;
    const struct verdict_node *node;
    size_t nodes;
    const struct efficiency_sum *all;
    struct efficiency_tree tree;
    double noise; /* of `speed`: a part of it */
    double
        regional; /* rank-ns waited in regions for who had more to do there */
    double most_last; /* part of the regions in which the same rank was last */
    size_t worst; /* node for which the others waited most; nodes: not known */
    double *scratch; /* room for n */
};

struct verdict {
    enum verdict_cause cause;
    enum verdict_who who;
    size_t node;   /* of the guilty */
    int is_rank;   /* one rank of that node, else all of them */
    uint32_t rank; /* that one, or the busiest */
    double longer; /* useful time, as a multiple of the others'... */
    double apart;  /* ...for ranks of the same node */
    double work;   /* CPU time in it, likewise; 0: not known */
    double share;  /* part of it in which there was a CPU; 0: not known */
    double speed;  /* of the node, as a multiple of the others'; 0: not known */
    double io;     /* part of the time that the I/O took */
    int by_device; /* I/O: the kernel, or MPI, says so */
    int by_mpi;    /* likewise MPI: it is of the waiting, not of useful time */
};

/* A rank that takes no more than this times as long is no reason. */
#define VERDICT_ALIKE 1.05
/* Below it the others waited too little to name anybody: of all their time. */
#define VERDICT_LEAST 0.02
/* Likewise, to say that the imbalance moves, or that ranks wait for each other or
 * the network: shared CPUs and the system's own work make another rank late each
 * time, by some percent. */
#define VERDICT_NAMELESS 0.1
/* A probe of 0.3 s is repeated within this part. */
#define VERDICT_NOISE 0.05

/* O(n log n). */
struct verdict verdict_of(const struct verdict_in *in);
/* Is somebody late?  Else nobody is to blame, or who has less to do. */
int verdict_is_late(const struct verdict *v);
/* As reports name it: "more work", ... */
const char *verdict_name(enum verdict_cause cause);
/* "others", "quota", "own threads"; NULL for nobody. */
const char *verdict_who_name(enum verdict_who who);

#endif
