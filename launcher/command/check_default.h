/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_default.h - do the partitions exist that default=on: names in plugstack.conf?
 * The plugin cannot know: it compares names, and a misspelt one is that of no job.
 */
#ifndef LAUNCHER_COMMAND_CHECK_DEFAULT_H
#define LAUNCHER_COMMAND_CHECK_DEFAULT_H

/* Warn of each that Slurm does not have; it is asked only where some are named. */
void check_default(void);

#endif
