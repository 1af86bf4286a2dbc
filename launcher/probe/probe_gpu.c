/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_gpu.h"
#include "launcher/probe/gpu_library.h"
#include "launcher/probe/gpu_maker.h"
#include "launcher/probe/pcie.h"
#include "launcher/probe/probe_crew.h"
#include "launcher/probe/probe_rate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- gpu rate ------------------------------------------------------------------ */

/* How fast a device copies its memory and computes, by the clock
 * of this machine. */

struct gpu_rate {
    double per_s;  /* bytes read and written, or operations */
    double spread; /* relative standard deviation of the samples */
};

#define COPIES    16      /* between two looks at the clock: 2 ms at 4 TB/s */
#define KERNEL_NS 2000000 /* a run is long against its start */
#define SAMPLES   256     /* at most */

static double per_s(double amount, int64_t ns)
{
    return amount / (double)(ns > 0 ? ns : 1) * 1e9;
}

/*
 * Sample until end_ns of probe_now_ns(), at least once.  The device is one that
 * the maker has begun, with buffers of "bytes", or for which it has built the
 * kernel.  0, or -1 with g->why, also where the kernel has not computed what it
 * should.
 */
static int gpu_rate_copy(const struct gpu_maker *maker,
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

static int gpu_rate_compute(const struct gpu_maker *maker,
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

/* --- probe gpu ----------------------------------------------------------------- */

#define COPY_BYTES ((uint64_t)256 << 20) /* several times any L2 of 2026 */
#define COPY_PART  8                     /* at most this part of the memory */
#define BYTES_MOST ((uint64_t)1 << 50)   /* no device has more */

static const struct gpu_maker *const makers[] = {&gpu_nvidia, &gpu_amd,
                                                 &gpu_intel};

#define MAKERS (sizeof makers / sizeof makers[0])

struct work {
    const struct probe_setup *setup;
    struct probe_result *r;
    enum gpu_state state[MAKERS];
    struct gpu gpu[MAKERS];
    /* of the devices measured so far, per second */
    double copy, compute;
    double spread; /* the widest, of copy */
    unsigned done;
    char why[GPU_WHY]; /* one has not computed; "": all have */
};

/* --- which there are ------------------------------------------------------ */

static void count(struct probe_result *r, const struct gpu *g)
{
    r->count += g->n;
    for (unsigned i = 0; i < g->n; i++)
        r->capacity_bytes +=
            g->bytes[i] < BYTES_MOST ? g->bytes[i] : BYTES_MOST;
}

/* First what only watches: if the driver then hangs or dies, it is known all
 * the same what there is. */
static void open_maker(struct work *w, size_t m)
{
    struct gpu watched = {.drivers = w->setup->drivers};
    struct probe_result before = *w->r;

    w->gpu[m].drivers = w->setup->drivers;
    if (makers[m]->watch && makers[m]->watch(&watched) == 0) {
        count(w->r, &watched);
        probe_not_measured(w->r, "the driver has not answered");
        probe_publish(w->setup, w->r);
    }
    w->state[m] = makers[m]->open(&w->gpu[m]);
    if (w->state[m] != GPU_THERE)
        return;
    *w->r = before;
    count(w->r, &w->gpu[m]);
}

/* The first maker of that state, or MAKERS. */
static size_t find(const struct work *w, enum gpu_state state)
{
    size_t m = 0;

    while (m < MAKERS && w->state[m] != state)
        m++;
    return m;
}

static unsigned count_devices(const struct work *w)
{
    unsigned n = 0;

    for (size_t m = 0; m < MAKERS; m++)
        n += w->state[m] == GPU_THERE ? w->gpu[m].n : 0;
    return n;
}

/* What drives a screen is hardly what a cluster computes on, but for NVIDIA's;
 * Intel's graphics on the root bus are inside of the processor. */
static int is_for_computing(const struct pcie_device *d)
{
    if (d->vendor == PCIE_VENDOR_NVIDIA)
        return 1;
    return d->class_code != PCIE_CLASS_VGA
           && (d->vendor != PCIE_VENDOR_INTEL
               || strncmp(d->name, "0000:00:", 8) != 0);
}

/* A card of a maker whose library is not there. */
static const struct gpu_maker *find_idle(const struct work *w,
                                         struct pcie_device *card)
{
    struct pcie_device found[PCIE_MOST];
    size_t n = pcie_accelerators(w->setup->sysfs, found);

    for (size_t i = 0; i < n; i++)
        for (size_t m = 0; m < MAKERS; m++)
            if (w->state[m] == GPU_ABSENT
                && found[i].vendor == makers[m]->vendor
                && is_for_computing(&found[i])) {
                *card = found[i];
                return makers[m];
            }
    return NULL;
}

/* No device answers. */
static void say_none(const struct work *w)
{
    size_t failed = find(w, GPU_FAILED);
    struct pcie_device card;
    const struct gpu_maker *idle = find_idle(w, &card);

    if (failed < MAKERS)
        probe_not_measured(w->r, "%s: %s", makers[failed]->name,
                           w->gpu[failed].why);
    else if (idle)
        probe_not_measured(w->r,
                           "%s: there is a card at %s, but no %s: install the "
                           "driver's libraries",
                           idle->name, card.name, idle->library);
    else if (find(w, GPU_THERE) < MAKERS)
        probe_measured(w->r, 0, 0, "no GPU: the driver has none for us");
    else
        probe_measured(w->r, 0, 0, "no GPU: there is no driver's library");
}

/* --- how fast they are ---------------------------------------------------- */

/* "2 x H100", or "2 x H100 and 1 more" of another maker. */
static void name_devices(const struct work *w, char *text, size_t size)
{
    unsigned n = count_devices(w);
    char more[24] = "";
    size_t m = 0;

    while (w->state[m] != GPU_THERE || w->gpu[m].n == 0)
        m++; /* there is one */
    if (w->gpu[m].n < n)
        (void)snprintf(more, sizeof more, " and %u more", n - w->gpu[m].n);
    (void)snprintf(text, size, "%u x %s%s", w->gpu[m].n, w->gpu[m].first, more);
}

/* Those that were not measured count as the mean of those that were. */
static void describe(const struct work *w, const char *why)
{
    char names[GPU_NAME + 40], computes[GPU_WHY + 40];
    double part = (double)count_devices(w) / w->done / 1e9;

    name_devices(w, names, sizeof names);
    if (*why)
        (void)snprintf(computes, sizeof computes, "computing not measured: %s",
                       why);
    else
        (void)snprintf(computes, sizeof computes, "%.0f Gflop/s",
                       w->compute * part);
    probe_measured(w->r, w->copy * part, w->spread,
                   "%s, %.1f GB in all; %u measured; %s", names,
                   (double)w->r->capacity_bytes / 1e9, w->done, computes);
    w->r->compute = *why ? 0 : w->compute * part;
}

/* What is known after the copies is said before the driver is asked for more. */
static void measure_kernel(struct work *w,
                           const struct gpu_maker *maker,
                           struct gpu *g,
                           int64_t end_ns)
{
    struct gpu_rate compute;

    describe(w, "the kernel has not ended");
    probe_publish(w->setup, w->r);
    if (maker->build(g) == 0
        && gpu_rate_compute(maker, g, end_ns, &compute) == 0)
        w->compute += compute.per_s;
    else
        (void)snprintf(w->why, sizeof w->why, "%s", g->why);
}

/* Copy for half of the time, and compute for the other.  0, or -1: it cannot
 * even copy. */
static int measure_device(struct work *w, size_t m, unsigned i, int64_t end_ns)
{
    struct gpu *g = &w->gpu[m];
    uint64_t bytes = g->bytes[i] / COPY_PART;
    int64_t now = probe_now_ns();
    struct gpu_rate copy;
    int rc;

    bytes = bytes < COPY_BYTES ? bytes : COPY_BYTES;
    rc = makers[m]->begin(g, i, (size_t)bytes);
    if (rc == 0)
        rc = gpu_rate_copy(makers[m], g, (size_t)bytes,
                           now + (end_ns - now) / 2, &copy);
    if (rc == 0) {
        w->done++;
        w->copy += copy.per_s;
        w->spread = copy.spread > w->spread ? copy.spread : w->spread;
        measure_kernel(w, makers[m], g, end_ns);
    }
    makers[m]->end(g);
    return rc;
}

/* Each device gets an equal part of the time that is left. */
static void measure_devices(struct work *w, int64_t end_ns)
{
    unsigned left = count_devices(w);

    for (size_t m = 0; m < MAKERS; m++)
        for (unsigned i = 0; w->state[m] == GPU_THERE && i < w->gpu[m].n; i++) {
            int64_t now = probe_now_ns();

            if (w->done > 0 && now >= end_ns)
                break;
            if (measure_device(w, m, i, now + (end_ns - now) / left) < 0) {
                probe_not_measured(w->r, "%s GPU %u of %u (%.30s): %s",
                                   makers[m]->name, i, w->gpu[m].n,
                                   w->gpu[m].first, w->gpu[m].why);
                return;
            }
            left--;
        }
    describe(w, w->why);
}

void probe_gpu_measure(const struct probe_setup *setup,
                       int budget_ms,
                       struct probe_result *r)
{
    int64_t end_ns = probe_now_ns() + (int64_t)budget_ms * 1000000;
    struct work w = {.setup = setup, .r = r};

    for (size_t m = 0; m < MAKERS; m++)
        open_maker(&w, m);
    if (count_devices(&w) == 0)
        say_none(&w);
    else
        measure_devices(&w, end_ns);
    for (size_t m = 0; m < MAKERS; m++)
        free(w.gpu[m].driver);
}
