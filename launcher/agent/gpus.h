/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpus.h - the GPUs that this node's commands may use, each by the word that
 * chooses it in CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES.
 */
#ifndef LAUNCHER_AGENT_GPUS_H
#define LAUNCHER_AGENT_GPUS_H

#include "launcher/base/sysfs.h"
#include "launcher/wire/protocol.h"

#include <stddef.h>

#define GPUS_MAX NODE_GPUS_MAX
#define GPU_WORD 64 /* "GPU-" and a UUID, or "MIG-" and one */

struct gpus {
    const char *variable; /* that chooses one */
    size_t n;
    struct gpu {
        char word[GPU_WORD];
        char near
            [SYSFS_LINE]; /* CPUs next to it, as "0-7,16-23"; "": not known */
    } gpu[GPUS_MAX];
};

/*
 * What the environment names (by Slurm, or by the user) is what there is, and
 * an empty list is none; else the devices of the node.  root: "", or a folder
 * with dev, proc and sys.
 */
void gpus_find(struct gpus *g, char *const environment[], const char *root);

#endif
