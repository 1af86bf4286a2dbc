/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin_libs.h - in a task: the shared objects that --evenstep-libs has brought
 * come before what the user has in LD_LIBRARY_PATH.
 */
#ifndef SPANK_PLUGIN_PLUGIN_LIBS_H
#define SPANK_PLUGIN_PLUGIN_LIBS_H

#include <slurm/spank.h>

/*
 * Put the folders of the agent's variable EVENSTEP_LIBS in front of the task's
 * LD_LIBRARY_PATH, and take that variable away: it is of this step alone.  A
 * list that is too long is said, once a node.  To be called from
 * slurm_spank_task_init(), with the variable set.
 */
void plugin_libs_add(spank_t sp);

#endif
