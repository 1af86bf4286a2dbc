/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin_remote.h - in slurmstepd: what the agent on this node has written
 * for the tasks of the step becomes their environment, and goes with the step.
 *
 * The file is /dev/shm/evenstep-<uid>/<job>.<step>/env, lines
 * EVENSTEP_NAME=value.  It is read with the user's rights, never root's, and
 * believed only if it and the directories above it are the user's own.
 */
#ifndef SPANK_PLUGIN_REMOTE_H
#define SPANK_PLUGIN_REMOTE_H

#include <slurm/spank.h>

/*
 * In a step's environment: the local side refused the step.  The name begins
 * with SLURM_ because only such variables pass srun --export=NONE.
 */
#define REFUSED "SLURM_EVENSTEP_REFUSED"

/*
 * Set every variable of the file for all tasks of the step on this node.
 * Without a file nothing happens; a file that breaks the rules is left out
 * as a whole, with one line.  To be called from slurm_spank_user_init(),
 * when slurmstepd has dropped its privileges.
 */
void plugin_remote_set_environment(spank_t sp);

/*
 * Remove the directory of this step, if there is one: its agent does that, but
 * one that was killed did not.  What it removes are names in a directory that
 * is the user's own, so also root may.  To be called from slurm_spank_exit().
 */
void plugin_remote_clean(spank_t sp);

/*
 * End this process with status 1 if the step was refused.  To be called from
 * slurm_spank_task_init() only: there it is the task's own process, as the
 * user, about to become the user's program; slurmstepd sees a task that failed
 * and ends the step as usual.
 */
void plugin_remote_refuse(spank_t sp);

#endif
