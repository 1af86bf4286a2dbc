/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin_program.h - is a task's program one that this system's dynamic loader
 * starts?  Others (linked statically, for musl, of another machine) load no library
 * of this system.
 */
#ifndef SPANK_PLUGIN_PLUGIN_PROGRAM_H
#define SPANK_PLUGIN_PLUGIN_PROGRAM_H

#include <slurm/spank.h>

/* To be called in the task, as its user.  0 if it is known to be another;
 * *name is the program then, or NULL. */
int plugin_program_is_of_system(spank_t sp, const char **name);

#endif
