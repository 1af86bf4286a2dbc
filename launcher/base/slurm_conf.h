/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slurm_conf.h - values from slurm.conf.  The file is read here rather than
 * slurmctld asked, as every step on the cluster would ask it.
 *
 * The file is $SLURM_CONF, else the first that exists of the usual places,
 * which include that of "configless" Slurm.
 */
#ifndef LAUNCHER_BASE_SLURM_CONF_H
#define LAUNCHER_BASE_SLURM_CONF_H

#include <stddef.h>

/*
 * Find the value of a key that is global, not of a node or a partition; "" if
 * the file does not have it.  Returns 0, or -1 (value is "") if a file cannot
 * be read or a line is not understood.
 */
int slurm_conf_find(const char *key, char *value, size_t size);

/* That file; NULL: there is none. */
const char *slurm_conf_path(void);

#endif
