/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_option.h - where the agents are: --local N[=S1,S2,...], S a CPU speed
 * in percent of one core, and --srun "ARGS"; for every command alike.
 */
#ifndef LAUNCHER_CONFIG_LOCAL_OPTION_H
#define LAUNCHER_CONFIG_LOCAL_OPTION_H

#include "launcher/base/option.h"

#define LOCAL_MAX 1024 /* agents of --local; far above any laptop */

struct local_option {
    size_t n; /* 0: not given */
    int speed[LOCAL_MAX];
    int has_speeds;
};

/* As struct option has it; at is a struct local_option. */
int local_option_take(void *at, const char *text, struct es_error *err);

/* NULL: as fast as they are. */
const int *local_option_speeds(const struct local_option *o);

#define OPTION_LOCAL                                                           \
    OPTION_TAKE, "local", "N[=S1,S2,...]",                                     \
        .take = local_option_take,                                             \
        .help = "no Slurm: N agents on this machine; S: CPU speed in percent " \
                "of one core"
#define OPTION_SRUN                                                            \
    OPTION_TEXT, "srun", "\"ARGS\"",                                           \
        .help = "for the step that brings the agents, e.g. \"-N2\""

#endif
