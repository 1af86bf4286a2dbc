/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aggregate.h - one number for many: how the progress of threads stands for
 * their node's, of nodes for their rack's, of racks for the step's.
 *
 * US 9,477,533 balances threads, nodes and groups of nodes level by level.
 */
#ifndef POLICY_AGGREGATE_H
#define POLICY_AGGREGATE_H

#include <stddef.h>

enum aggregate {
    AGGREGATE_MIN, /* the slowest stands for all */
    AGGREGATE_MEAN,
    AGGREGATE_MEDIAN,
    AGGREGATE_VARIANCE,  /* of all there are: divided by n */
    AGGREGATE_DEVIATION, /* its square root */
    AGGREGATE_SKEW,      /* variance / mean; 0 if the mean is */
    AGGREGATES
};

/* "min", ..., "skew". */
const char *aggregate_name(enum aggregate how);
/* AGGREGATES if there is none of that name. */
enum aggregate aggregate_find(const char *name);

/*
 * Of n finite values, for the skew >= 0; of none it is 0.  Permutes value[] for
 * the median.
 * O(n).
 */
double aggregate_of(enum aggregate how, double value[], size_t n);

#endif
