/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slurm_watts.h - what Slurm knows of the watts that a session's nodes use,
 * where the site has its plugin acct_gather_energy.
 *
 * slurmctld tells CurrentWatts to everybody; what slurmd counts it tells root
 * only.  A request is for all nodes of the job, once a minute; where none has
 * any watts it was the last.
 */
#ifndef LAUNCHER_SESSION_SLURM_WATTS_H
#define LAUNCHER_SESSION_SLURM_WATTS_H

#include "launcher/session/session.h"

struct event_base;
struct slurm_watts;

/* Ask in a moment, for nodes of a job.  NULL if memory ran out. */
struct slurm_watts *slurm_watts_start(struct event_base *base,
                                      const struct session *session);
/* 0: not known, or s is NULL. */
double slurm_watts_of(const struct slurm_watts *s, size_t node);
/* NULL is allowed; the session may be gone. */
void slurm_watts_stop(struct slurm_watts *s);

#endif
