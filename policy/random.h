/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * random.h - random numbers from a caller's seed, so that every run can be
 * replayed.
 *
 * Two generators: a linear congruential one of 32 bits (Press et al., Numerical
 * Recipes, section 7.1), which is the default, and java.util.Random's, with
 * which a run of JPPF itself can be repeated.
 * Good enough to pick bundle sizes, not for secrets.
 */
#ifndef POLICY_RANDOM_H
#define POLICY_RANDOM_H

#include <stdint.h>

enum generator {
    GENERATOR_LCG32, /* x = x * 1664525 + 1013904223 mod 2^32 */
    GENERATOR_JAVA,  /* the 48 bits of java.util.Random */
    GENERATORS
};

struct rng {
    enum generator generator;
    uint64_t x;
};

/* The seed of a node's own stream. */
uint64_t random_seed(uint64_t seed, uint64_t node);

void random_init(struct rng *r, enum generator generator, uint64_t seed);

/* A whole number in [0, bound), bound >= 1. */
int32_t random_below(struct rng *r, int32_t bound);

/* 0 or 1, equally likely. */
int random_boolean(struct rng *r);

/* In [0, 1). */
double random_unit(struct rng *r);

/* Of mean 0 and deviation 1, within 6 of them. */
double random_normal(struct rng *r);

#endif
