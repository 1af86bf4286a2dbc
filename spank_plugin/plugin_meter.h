/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin_meter.h - in a task: the library that meters a program by its calls
 * of MPI, put before the program by LD_PRELOAD.
 *
 * What cannot be preloaded is not metered, and runs as it is: the loader leaves
 * the library out of a program that is setuid, and there is none in a static
 * one.  In a program that never calls MPI the library does nothing.
 */
#ifndef SPANK_PLUGIN_PLUGIN_METER_H
#define SPANK_PLUGIN_PLUGIN_METER_H

#include <slurm/spank.h>

/*
 * Add the library to the task's LD_PRELOAD, in front of what is there, if the
 * agent's variables ask for it and there is a meter page.  A library that is
 * missing is said, once a node.  To be called from slurm_spank_task_init(),
 * with these variables set.
 */
void plugin_meter_preload(spank_t sp);

#endif
