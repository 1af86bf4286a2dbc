/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/sample_cache.h"

size_t sample_cache_slots(int32_t capacity)
{
    if (capacity <= 2)
        return 1;
    return capacity > SAMPLES_MOST ? SAMPLES_MOST : (size_t)capacity - 1;
}

void sample_cache_init(struct sample_cache *c,
                       int32_t capacity,
                       double start_mean)
{
    *c = (struct sample_cache){
        .mean = start_mean,
        .count = 1,
        .capacity = capacity,
        .slots = (uint32_t)sample_cache_slots(capacity),
    };
}

static void forget_oldest(struct sample_cache *c,
                          const struct sample ring[],
                          size_t stride)
{
    c->count -= ring[c->first * stride].tasks;
    c->total -= ring[c->first * stride].time_ns;
    c->first = c->first + 1 == c->slots ? 0 : c->first + 1;
    c->held--;
}

void sample_cache_add(struct sample_cache *c,
                      struct sample ring[],
                      size_t stride,
                      int32_t tasks,
                      double time_ns)
{
    double mean = time_ns / tasks;
    uint32_t at;

    /* 1. */
    while (c->held > 0
           && (c->count + tasks > c->capacity || c->held == c->slots))
        forget_oldest(c, ring, stride);
    /* 2. The product may differ from time_ns in the last bit. */
    at = c->first + c->held++;
    at = at < c->slots ? at : at - c->slots;
    ring[at * stride] =
        (struct sample){.time_ns = tasks * mean, .tasks = tasks};
    c->total += tasks * mean;
    c->count += tasks;
    /* 3. */
    c->previous = c->mean;
    c->mean = c->total / (double)c->count;
}
