/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/gpu_rate.h"
#include "launcher/probe/gpu_library.h"
#include "launcher/probe/probe_crew.h"
#include "launcher/probe/probe_rate.h"

#define COPIES    16      /* between two looks at the clock: 2 ms at 4 TB/s */
#define KERNEL_NS 2000000 /* a run is long against its start */
#define SAMPLES   256     /* at most */

static double per_s(double amount, int64_t ns)
{
    return amount / (double)(ns > 0 ? ns : 1) * 1e9;
}

int gpu_rate_copy(const struct gpu_maker *maker,
                  struct gpu *g,
                  size_t bytes,
                  int64_t end_ns,
                  struct gpu_rate *rate)
{
    double sample[SAMPLES];
    size_t n = 0;

    if (maker->copy(g, 1) < 0) /* not timed: it warms up */
        return -1;
    while (n < SAMPLES && (n == 0 || probe_now_ns() < end_ns)) {
        int64_t begin = probe_now_ns();

        if (maker->copy(g, COPIES) < 0)
            return -1;
        sample[n++] =
            per_s(2.0 * COPIES * (double)bytes, probe_now_ns() - begin);
    }
    rate->per_s = probe_mean(sample, n, &rate->spread);
    return 0;
}

/* Run the kernel; *ns it took. */
static int run(const struct gpu_maker *maker,
               struct gpu *g,
               uint32_t rounds,
               int64_t *ns)
{
    int64_t begin = probe_now_ns();
    float stored = 0;

    if (maker->compute(g, rounds, &stored) < 0)
        return -1;
    *ns = probe_now_ns() - begin;
    if (stored != (float)GPU_CHAINS)
        return gpu_fail(g, "the kernel has computed %g, not %d", (double)stored,
                        GPU_CHAINS);
    return 0;
}

int gpu_rate_compute(const struct gpu_maker *maker,
                     struct gpu *g,
                     int64_t end_ns,
                     struct gpu_rate *rate)
{
    const double round =
        2.0 * GPU_CHAINS * GPU_THREADS * GPU_BLOCKS; /* operations */
    uint32_t rounds = GPU_ROUNDS_LEAST;
    double sample[SAMPLES];
    size_t n = 0;
    int64_t ns;

    if (run(maker, g, rounds, &ns) < 0) /* not timed: it warms up */
        return -1;
    while (n < SAMPLES && (n == 0 || probe_now_ns() < end_ns)) {
        if (run(maker, g, rounds, &ns) < 0)
            return -1;
        if (ns < KERNEL_NS && rounds < GPU_ROUNDS_MOST)
            rounds *= 2;
        else
            sample[n++] = per_s(round * rounds, ns);
    }
    rate->per_s = probe_mean(sample, n, &rate->spread);
    return 0;
}
