/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin_power.h - in slurmstepd: evenstep-power, which may set limits on this
 * node as root and puts back what it found, for as long as the step lives.
 */
#ifndef SPANK_PLUGIN_POWER_H
#define SPANK_PLUGIN_POWER_H

#include <slurm/spank.h>

/*
 * Start it, once, if srun has sent an option that needs it: --evenstep-power, or
 * --evenstep-report, or what evenstep gives to the srun of its agents.  To be
 * called as root, from slurm_spank_init_post_opt().  Without it the step runs as
 * it is.
 */
void plugin_power_start(spank_t sp);
/* Tell it of a task, before that becomes the user's program.  If it does not
 * answer that is said, and it is not asked again. */
void plugin_power_task(spank_t sp);
/* The step is over. */
void plugin_power_stop(void);

#endif
