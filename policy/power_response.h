/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power_response.h - how nodes follow their limits, and what steering gains by
 * that.
 *
 * Pure.  A node's progress goes with limit^e.  The exponent e is fitted to what
 * changes from one round to the next, by least squares through the origin:
 *
 *   log(progress / progress before) = e * log(limit / limit before)
 *
 * of all nodes together, less what is common to all in a round (its unit, an
 * iteration that is longer).  A round in which limits have hardly moved tells
 * nothing about e, and is left out.  Later rounds count more.
 *
 * So it is seen after few rounds that a program gets faster where its nodes come
 * last, long before its iterations show it beyond their noise.
 */
#ifndef POLICY_POWER_RESPONSE_H
#define POLICY_POWER_RESPONSE_H

#include "policy/power_rule.h"

#include <stddef.h>

struct power_seen { /* of a node; all zero: nothing */
    double limit, progress;
    double start; /* limit when it was first seen */
};

struct power_response { /* all zero: nothing is known */
    double xx, xy, yy;  /* sums of products of the changes */
    double n;           /* changes that these are of, less one a round */
};

/* A round has ended, with the nodes' limits and their progress in it.  O(n). */
void power_response_note(struct power_response *r,
                         struct power_seen seen[],
                         const struct power_node node[],
                         size_t n);
/* The exponent, less (more: plus) three standard errors; 0 (infinite) where it is
 * not known. */
double power_response_least(const struct power_response *r);
double power_response_most(const struct power_response *r);
/* The exponent itself, 0 to 1; 1 where it is not known. */
double power_response_exponent(const struct power_response *r);
/* How many balancing steps (power.h) can be taken at a time, each by what is
 * expected after the one before were progress in proportion to the limit: more
 * than one once it is seen to be near enough to that not to swing. */
unsigned power_response_steps(const struct power_response *r);
/*
 * By which part the slowest node's region is shorter than with the limits of the
 * start, for all that is seen, of those that report; <= 0: no help.  O(n).
 */
double power_response_gain(const struct power_response *r,
                           const struct power_seen seen[],
                           const struct power_node node[],
                           size_t n);
/*
 * By which part the slowest node's region would be shorter if all came together,
 * were progress in proportion to the limit; 0: they do.  O(n).
 */
double power_promise(const struct power_node node[], size_t n);

/*
 * The part of the time that the limits have cost, beside those of the start, were
 * progress in proportion to the limit; < 0: gained.  O(n).
 */
double power_loss(const struct power_seen seen[],
                  const struct power_node node[],
                  size_t n);
/*
 * Keep all limits from going below a part of those of the start, by their floors;
 * where the sum may change, those that are below it are raised.  O(n).
 */
void power_keep_depth(double part,
                      int may_raise,
                      const struct power_seen seen[],
                      struct power_node node[],
                      size_t n);

#endif
