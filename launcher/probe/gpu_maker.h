/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpu_maker.h - what the probe of GPUs asks of a maker's driver, whoever it is.
 *
 * Each maker has one file, gpu_<x>.c, which opens the driver's libraries at run
 * time: evenstep is built and runs without any, and of their headers it needs
 * none.  A maker's functions run in a process of the probe's own and may never
 * return; none need be safe against that.
 */
#ifndef LAUNCHER_PROBE_GPU_MAKER_H
#define LAUNCHER_PROBE_GPU_MAKER_H

#include <stddef.h>
#include <stdint.h>

#define GPU_MOST 64  /* devices of a maker; the others are not looked at */
#define GPU_NAME 64  /* of a device, with its NUL */
#define GPU_WHY  110 /* why a driver's call has failed, with its NUL */

/*
 * The kernel of the compute rate, the same for all makers: GPU_BLOCKS times
 * GPU_THREADS threads, and in each GPU_CHAINS numbers x, which are
 * x * 0.5 + 0.5 so many times as it is told.  x gets to 1, so that every thread
 * of a block stores GPU_CHAINS, whatever it began with, after GPU_ROUNDS_LEAST.
 * Chains that do not wait for each other keep the device busy.
 */
#define GPU_KERNEL       "evenstep_rate"
#define GPU_BLOCKS       4096
#define GPU_THREADS      256
#define GPU_CHAINS       8
#define GPU_FACTOR       0.5f
#define GPU_ROUNDS_LEAST 256
#define GPU_ROUNDS_MOST  ((uint32_t)1 << 22)

struct gpu {
    const char *drivers; /* the folder of all libraries; NULL: the loader's */
    char library[64];    /* the driver's, by the name that was opened */
    unsigned n;          /* devices */
    uint64_t bytes[GPU_MOST]; /* of the memory of each */
    char first[GPU_NAME];     /* name of the first */
    char why[GPU_WHY];        /* of the call that has failed */
    void *driver; /* the maker's; from malloc(); the caller frees it */
};

/* What has become of a maker's driver. */
enum gpu_state {
    GPU_ABSENT, /* there is no such library */
    GPU_FAILED, /* "why" says how */
    GPU_THERE,  /* with n devices, which may be 0 */
};

struct gpu_maker {
    const char *name;    /* "NVIDIA" */
    unsigned vendor;     /* of its PCI devices */
    const char *library; /* that is missing where there is none */

    /* Open the libraries, start the driver and count the devices that the
     * environment leaves us: n, bytes[], first. */
    enum gpu_state (*open)(struct gpu *g);
    /* Where the driver itself has failed or hangs: count the devices and their
     * memory by the library that only watches.  NULL: the maker has none.  0,
     * or -1 if that is not known. */
    int (*watch)(struct gpu *g);

    /* Each returns 0, or -1 with "why". */
    /* Make device i the one of all that follow, with two buffers of "bytes". */
    int (*begin)(struct gpu *g, unsigned i, size_t bytes);
    /* Copy one buffer to the other, so many times, to the end. */
    int (*copy)(struct gpu *g, unsigned times);
    /* Have the driver translate the kernel for the device. */
    int (*build)(struct gpu *g);
    /* Run it to the end; *stored is what its first thread has stored. */
    int (*compute)(struct gpu *g, uint32_t rounds, float *stored);
    void (*end)(struct gpu *g); /* of the device; also after a failed begin */
};

extern const struct gpu_maker gpu_nvidia, gpu_amd, gpu_intel;

#endif
