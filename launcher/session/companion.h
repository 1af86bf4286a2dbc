/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * companion.h - all that evenstep asks of Slurm's commands: how the companion
 * step is started, what it is told, how it is ended.  What differs between
 * versions of Slurm (22.05 and later) is in companion.c and nowhere else.
 *
 * The commands are used rather than libslurm because libslurm ends its
 * process where its configuration is missing, and is bound to one version.
 */
#ifndef LAUNCHER_SESSION_COMPANION_H
#define LAUNCHER_SESSION_COMPANION_H

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

/* The allocation's nodes as Slurm lists them ("n[0-3]"), NULL if there is
 * none. */
const char *companion_job_nodes(void);

/* srun's words; owned by the caller, ended with companion_argv_free(). */
int companion_argv(char ***argv,
                   const struct companion_place *place,
                   const char *agent_path,
                   struct es_error *err);
void companion_argv_free(char **argv);
/* Those words for a step without PMIx; 0, or -1 if memory ran out. */
int companion_leave_pmix(char **argv);
/* Those words for a step without the nodes of Slurm's list, so that so many are left.
 * 0, or -1: they do not name the nodes, or memory ran out. */
int companion_leave_out(char **argv, const char *list, uint32_t left);
/* Likewise for one on the n nodes of this list alone. */
int companion_take_only(char **argv, const char *list, uint32_t n);
/* Is it in the environment of its srun that Slurm starts a step with PMIx? */
int companion_step_has_pmix(void);
/* Do srun's, or an agent's, last words say that PMIx is not to be had? */
int companion_lacks_pmix(const char *said);

/* What one of Slurm's commands prints, in at most 10 s; free() it.  NULL: err says
 * why. */
char *companion_ask(struct event_base *base,
                    char *const argv[],
                    struct es_error *err);
/* The names in one of Slurm's lists of nodes, one a line, as `scontrol show
 * hostnames` prints them; free() it.  NULL: err says why. */
char *companion_hostnames(struct event_base *base,
                          const char *list,
                          struct es_error *err);

/* How many agents it must have, one a node; 0 if that is not known, as where
 * the user gives srun's arguments. */
uint32_t companion_nodes(const struct companion_place *place);

/*
 * Is this entry of our environment none for Slurm's commands?  Of SLURM_* and
 * its like only what is known to be needed is let through: the rest are
 * options in disguise that would bend the companion step (its tasks, its CPUs,
 * a host file), and each version of Slurm has more of them.
 */
int companion_drops(const char *entry);
/* Our environment without what companion_drops(); the entries stay where they
 * are.  free() it; NULL: no memory. */
char **companion_environ(void);

/*
 * Which collective PMIx's fence takes, for the companion step's environment.
 * Slurm 22.05's own choice, the ring, hung about 1 start of 50, one node
 * through its fence and the others in it for ever; of 400 under the tree none
 * did.  But the tree goes over Slurm's own messages, which find the wrong nodes
 * if the step has only some of the job's.  (4 nodes of contrib/testbed,
 * 2026-11.)
 *
 * Why the tree never hangs: its fence is through at once, with success, also
 * where a node comes 0.5 s late, as TreeWidth is more than the nodes, and so
 * each of them is a root (with TreeWidth=2 they wait).  Nobody waits in it; each
 * endpoint is waited for, and fetched from its node's slurmstepd, when it is
 * asked for: of 8 nodes in 25 to 60 ms, but by as many requests as there are
 * pairs of nodes.
 */
#define COMPANION_FENCE      "SLURM_PMIX_FENCE"
#define COMPANION_FENCE_PART "ring" /* of some of the job's nodes */
const char *companion_fence(const struct companion_place *place);

/* SrunPortRange of slurm.conf; 0-0 if there is none.  Asks scontrol only where
 * that file cannot be read here. */
int companion_ports(struct event_base *base,
                    struct port_range *ports,
                    struct es_error *err);
/* Has a step of n_nodes (0: not known) of that job all nodes of the allocation
 * that we stand in? */
int companion_is_whole(uint32_t job, uint32_t n_nodes);
/* What `sattach --layout` prints of a running step, for step_layout.h; free()
 * it.  NULL: err says why. */
char *companion_step_layout(struct event_base *base,
                            uint32_t job,
                            uint32_t step,
                            struct es_error *err);
/* Kill a step with scancel; waits for the command, at most 10 s. */
void companion_cancel(struct event_base *base, uint32_t job, uint32_t step);
/* Kill a step that srun launches when we have ended: a process of its own asks Slurm
 * for 5 s, or until the step is over. */
void companion_cancel_next(uint32_t job, uint32_t step);

#endif
