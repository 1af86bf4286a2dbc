/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * companion.h - all that evenstep asks of Slurm's commands: how the companion
 * step is started, what it is told, how it is ended.  What differs between
 * versions of Slurm (22.05 and later) is in companion.c and nowhere else.
 *
 * The commands are used rather than libslurm because libslurm ends its
 * process where its configuration is missing, and is bound to one version.
 */
#ifndef LAUNCHER_COMPANION_H
#define LAUNCHER_COMPANION_H

#include "pmix_bcast/channel.h"

#include <stddef.h>
#include <stdint.h>

struct companion_place {   /* where the companion step runs */
    uint32_t job;          /* 0: the allocation that we stand in */
    char nodes[4096];      /* Slurm's list of nodes, "" for all of the job */
    uint32_t n_nodes;      /* 0 if nodes is "" */
    const char *srun_args; /* the user's, or NULL */
};

/* The allocation's job id from the environment, 0 if there is none. */
uint32_t companion_job_from_environ(void);

/* srun's words; owned by the caller, ended with companion_argv_free(). */
int companion_argv(char ***argv,
                   const struct companion_place *place,
                   const char *agent_path,
                   struct es_error *err);
void companion_argv_free(char **argv);
/* Those words for a step without PMIx; 0, or -1 if memory ran out. */
int companion_leave_pmix(char **argv);
/* Do srun's, or an agent's, last words say that PMIx is not to be had? */
int companion_lacks_pmix(const char *said);

/* Is this variable of ours or the job's one that would bend the companion
 * step (number of tasks, CPUs a task, …)? */
int companion_drops(const char *entry);

/*
 * Which collective PMIx's fence takes, for the companion step's environment.
 * Slurm 22.05's own choice, the ring, hung about 1 start of 50, one node
 * through its fence and the others in it for ever; of 400 under the tree none
 * did.  But the tree goes over Slurm's own messages, which find the wrong nodes
 * if the step has only some of the job's.  (4 nodes of contrib/testbed,
 * 2026-11.)
 *
 * Why the tree never hangs: its fence is through at once, with success, also
 * where a node comes 0.5 s late.  Nobody waits in it; each endpoint is waited
 * for, and fetched from its node's slurmstepd, when it is asked for: of 8
 * nodes in 25 to 60 ms, but by as many requests as there are pairs of nodes.
 */
#define COMPANION_FENCE "SLURM_PMIX_FENCE"
const char *companion_fence(const struct companion_place *place);

/* SrunPortRange of slurm.conf; 0-0 if there is none.  Asks scontrol. */
int companion_ports(struct event_base *base,
                    struct port_range *ports,
                    struct es_error *err);
/* The nodes of a running step.  Asks scontrol, but where the step has n_nodes
 * (0: not known) and so has the allocation that we stand in. */
int companion_step_nodes(struct event_base *base,
                         uint32_t job,
                         uint32_t step,
                         uint32_t n_nodes,
                         struct companion_place *place,
                         struct es_error *err);
/* What `sattach --layout` prints of a running step, for step_layout_read();
 * free() it.  NULL: err says why. */
char *companion_step_layout(struct event_base *base,
                            uint32_t job,
                            uint32_t step,
                            struct es_error *err);
/* Kill a step with scancel; waits for the command, at most 10 s. */
void companion_cancel(struct event_base *base, uint32_t job, uint32_t step);

#endif
