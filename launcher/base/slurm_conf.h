/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slurm_conf.h - what slurm.conf says, read where it lies rather than asked of
 * slurmctld, which every step on the cluster would do.
 *
 * The file is $SLURM_CONF, else where Slurm has put it by default or brought
 * it (slurm.conf(5), and "configless").
 */
#ifndef LAUNCHER_BASE_SLURM_CONF_H
#define LAUNCHER_BASE_SLURM_CONF_H

#include <stddef.h>

/*
 * The value of a key of the file itself, not of a node or partition; in value,
 * "" if there is none.  Returns 0, or -1 (value is "") where the files do not
 * tell: one cannot be read, or a line is not understood.
 */
int slurm_conf_find(const char *key, char *value, size_t size);

#endif
