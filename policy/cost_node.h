/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cost_node.h - a node and its last pieces, as the sums behind the costs
 * (cost_fit.h, cost_cpu.h) see them.
 */
#ifndef POLICY_COST_NODE_H
#define POLICY_COST_NODE_H

#include "policy/cost.h"

#define COST_PIECES 10 /* of a node are remembered */

enum cost_column { COST_WAIT, COST_BURN, COST_EACH, COST_TERMS };

struct cost_piece {
    struct cost_part part;
    double work;         /* as the density has it now */
    double ran;          /* seconds that its command ran */
    struct cost_run run; /* of which its node's lag is taken off */
    double seconds;      /* that it would have run alone, likewise */
    double expected;     /* seconds, when it came; 0: nothing was known */
    double weight;       /* 1: as new as can be */
    uint64_t own, all;   /* how many had come before, of its node and of all */
};

struct cost_node {
    struct cost_piece piece[COST_PIECES]; /* in the order of coming */
    size_t n;
    uint64_t added;
    double given;      /* speed, as it was told, in its unit; 0: it was not */
    double told;       /* in ours, by the scaling */
    double told_loose; /* how far ln(speed) may be from that */
    double rate;       /* CPU seconds a second (cost_cpu.h); 0: not known */
    double rate_off;   /* standard deviation of ln(rate) */
    double lag;        /* seconds that its starts wait longer (cost_lag.c) */
    double lag_told;   /* before any piece */
    double believed;   /* speed, before any piece */
    double loose;      /* how far ln(speed) may be from that */
    int is_trusted;    /* its last piece counts, however far off */
    int is_doubted;    /* that alone says that it is slow now */
    /* its rows of the normal equations */
    double row[COST_TERMS + 1], diagonal, right;
};

#endif
