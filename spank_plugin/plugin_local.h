/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin_local.h - in srun: the front end ("evenstep attend") that looks
 * after the step, from before its tasks start until they have ended.
 */
#ifndef SPANK_PLUGIN_LOCAL_H
#define SPANK_PLUGIN_LOCAL_H

#include <slurm/spank.h>

/*
 * Start the front end for the step that srun is about to start, if the user
 * or the site asked for it, and wait until it is ready.  If the step must not
 * start, the reason has been printed and its tasks will find REFUSED in their
 * environment (plugin_remote.h).  Returns what Slurm is to be told: 0, or -1
 * if not even that could be done.
 */
int plugin_local_start(spank_t sp);

/* The step is over: let the front end clean the nodes, and end. */
void plugin_local_stop(void);

#endif
