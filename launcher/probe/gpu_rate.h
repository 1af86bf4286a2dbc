/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpu_rate.h - how fast a device copies its memory and computes, by the clock
 * of this machine.
 */
#ifndef LAUNCHER_PROBE_GPU_RATE_H
#define LAUNCHER_PROBE_GPU_RATE_H

#include "launcher/probe/gpu_maker.h"

struct gpu_rate {
    double per_s;  /* bytes read and written, or operations */
    double spread; /* relative standard deviation of the samples */
};

/*
 * Sample until end_ns of probe_now_ns(), at least once.  The device is one that
 * the maker has begun, with buffers of "bytes", or for which it has built the
 * kernel.  0, or -1 with g->why, also where the kernel has not computed what it
 * should.
 */
int gpu_rate_copy(const struct gpu_maker *maker,
                  struct gpu *g,
                  size_t bytes,
                  int64_t end_ns,
                  struct gpu_rate *rate);
int gpu_rate_compute(const struct gpu_maker *maker,
                     struct gpu *g,
                     int64_t end_ns,
                     struct gpu_rate *rate);

#endif
