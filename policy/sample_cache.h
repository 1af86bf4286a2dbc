/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sample_cache.h - JPPF's moving average of a channel's time per task.
 *
 * The capacity counts tasks, not bundles, and whole bundles leave.  A phantom
 * task of time 0 is always counted, so the mean is a bit low.
 */
#ifndef POLICY_SAMPLE_CACHE_H
#define POLICY_SAMPLE_CACHE_H

#include <stddef.h>
#include <stdint.h>

/* Unlike JPPF: a cache of more tasks than this forgets the oldest bundle when
   it holds so many, as its memory is set aside at the start. */
#define SAMPLES_MOST 65536

/* One bundle that came back. */
struct sample {
    double time_ns; /* tasks * mean time */
    int64_t tasks;
};

struct sample_cache {
    double mean, previous; /* nanoseconds per task */
    double total;          /* of the time of all that are held */
    int64_t count;         /* of their tasks, and the phantom */
    int32_t capacity;      /* tasks; any value, below 3 only the newest stays */
    uint32_t slots;        /* of the ring */
    uint32_t first, held;  /* in the ring */
};

/* Samples that a cache of that capacity needs a ring for. */
size_t sample_cache_slots(int32_t capacity);

void sample_cache_init(struct sample_cache *c,
                       int32_t capacity,
                       double start_mean);

/*
 * Take in a bundle.
 *
 *   ring    sample_cache_slots() samples, always the same ones
 *   stride  from one of them to the next: caches that are filled side by side
 *           are best laid side by side
 *   tasks   > 0
 */
void sample_cache_add(struct sample_cache *c,
                      struct sample ring[],
                      size_t stride,
                      int32_t tasks,
                      double time_ns);

#endif
