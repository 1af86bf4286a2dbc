/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpu_mask.h - which GPUs the environment leaves a process, where a library
 * does not look at it: CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES.  Pure.
 */
#ifndef LAUNCHER_PROBE_GPU_MASK_H
#define LAUNCHER_PROBE_GPU_MASK_H

#include "launcher/probe/gpu_maker.h"

#define GPU_WORD 64 /* "GPU-" and a UUID, or "MIG-" and one */

struct gpu_mask {
    unsigned n;
    struct gpu_word {
        char text[GPU_WORD]; /* a UUID; "": a number */
        unsigned number;
    } word[GPU_MOST];
};

/*
 * Read numbers and UUIDs, by commas.  As in the CUDA C++ Programming Guide
 * ("CUDA Environment Variables"), what is neither, or a number of none of the
 * node's "all" GPUs, ends the list: so does Slurm's NoDevFiles.  list: NULL if
 * it is not set: all of them.
 */
void gpu_mask_read(struct gpu_mask *mask, const char *list, unsigned all);

#endif
