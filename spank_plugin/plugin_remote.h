/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin_remote.h - in slurmstepd: what the agent on this node has written
 * for the tasks of the step becomes their environment, and goes with the step.
 *
 * The file is env in the step's directory (plugin_place.h), lines
 * EVENSTEP_NAME=value.  It is read with the user's rights, never root's, and
 * believed only if it and the directories above it are the user's own.
 */
#ifndef SPANK_PLUGIN_REMOTE_H
#define SPANK_PLUGIN_REMOTE_H

#include <slurm/spank.h>
#include <stdint.h>

/*
 * In a step's environment: the local side refused the step, or has promised
 * its tasks the file, or why it could do neither.  The names begin with SLURM_ because only such variables
 * pass srun --export=NONE.
 */
#define REFUSED "SLURM_EVENSTEP_REFUSED"
#define PROMISE "SLURM_EVENSTEP_PROMISE"
#define FAILED  "SLURM_EVENSTEP_FAILED"

/* In srun: the tasks of this step will have the file.  0, or -1 with errno. */
int plugin_remote_promise(uint32_t job, uint32_t step, int required);

/* In srun: why evenstep failed, for the logs of the step's nodes. */
void plugin_remote_failed(uint32_t job, uint32_t step, const char *why);
/* One line of it.  To be called from slurm_spank_init_post_opt(). */
void plugin_remote_log(spank_t sp);

/* To be called as root, from slurm_spank_init_post_opt(): nobody but the user
 * has the user's name in /dev/shm. */
void plugin_remote_prepare(spank_t sp);

/*
 * Set every variable of the file for all tasks of the step on this node.
 * A file that breaks the rules is left out as a whole.  To be called from
 * slurm_spank_user_init(), when slurmstepd has dropped its privileges.
 */
void plugin_remote_set_environment(spank_t sp);

/*
 * Likewise for one task, from slurm_spank_task_init(), in the name spaces of
 * its job, if slurmstepd has found none in its own.  Without a file nothing
 * happens, unless it was promised: then one line says so, and a task of a step
 * that requires evenstep ends.
 */
void plugin_remote_task(spank_t sp);

/* A task has ended, how and when: for its agent, in the file "ended" that this has
 * made there.  To be called from slurm_spank_task_exit(). */
void plugin_remote_exit(spank_t sp);

/*
 * Remove the directory of this step, if there is one: its agent does that, but
 * one that was killed did not.  To be called from slurm_spank_exit().
 */
void plugin_remote_clean(spank_t sp);

/* Is this one component of a heterogeneous step, which has so many tasks (as in
 * SLURM_NTASKS, or NULL)?  Slurm tells of the component's own alone. */
int plugin_remote_is_component(spank_t sp, const char *all);

/*
 * End this process with status 1 if the step was refused.  To be called from
 * slurm_spank_task_init() only: there it is the task's own process, as the
 * user, about to become the user's program; slurmstepd sees a task that failed
 * and ends the step as usual.
 */
void plugin_remote_refuse(spank_t sp);

#endif
