/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/random.h"
#include "policy/java.h"

/* java.util.Random's documentation states its constants and methods. */
#define JAVA_MULTIPLIER UINT64_C(0x5DEECE66D)
#define JAVA_ADDEND     11
#define JAVA_MASK       ((UINT64_C(1) << 48) - 1)

#define SEED_STEP 7919 /* from node to node; a prime */

uint64_t random_seed(uint64_t seed, uint64_t node)
{
    return seed + SEED_STEP * node;
}

void random_init(struct rng *r, enum generator generator, uint64_t seed)
{
    r->generator = generator;
    if (generator == GENERATOR_JAVA)
        r->x = (seed ^ JAVA_MULTIPLIER) & JAVA_MASK;
    else
        r->x = seed & UINT32_MAX;
}

static uint32_t lcg32(struct rng *r)
{
    r->x = (r->x * 1664525 + 1013904223) & UINT32_MAX;
    return (uint32_t)r->x;
}

/* next(bits), bits <= 31 */
static int32_t java_next(struct rng *r, int bits)
{
    r->x = (r->x * JAVA_MULTIPLIER + JAVA_ADDEND) & JAVA_MASK;
    return (int32_t)(r->x >> (48 - bits));
}

/* nextInt(bound): even what does not divide 2^31 is equally likely. */
static int32_t java_below(struct rng *r, int32_t bound)
{
    int32_t bits, value;

    if ((bound & (bound - 1)) == 0)
        return (int32_t)(((int64_t)bound * java_next(r, 31)) >> 31);
    do {
        bits = java_next(r, 31);
        value = bits % bound;
    } while (java_add(bits - value, bound - 1) < 0);
    return value;
}

int32_t random_below(struct rng *r, int32_t bound)
{
    if (r->generator == GENERATOR_JAVA)
        return java_below(r, bound);
    return (int32_t)(((uint64_t)lcg32(r) * (uint64_t)bound) >> 32);
}

int random_boolean(struct rng *r)
{
    if (r->generator == GENERATOR_JAVA)
        return java_next(r, 1);
    return lcg32(r) < UINT32_C(1) << 31;
}

double random_unit(struct rng *r)
{
    int64_t high;

    if (r->generator == GENERATOR_LCG32)
        return lcg32(r) * 0x1p-32;
    high = (int64_t)java_next(r, 26) << 27;
    return (double)(high + java_next(r, 27)) * 0x1p-53;
}

/* The sum of 12 uniform variates is near enough. */
double random_normal(struct rng *r)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += random_unit(r);
    return sum;
}
