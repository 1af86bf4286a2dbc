/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * launch.h - the processes that bring a session's agents: srun with the
 * companion step, which may be started once more where not all of its agents
 * came, or the agents of --local, a few at a time.
 */
#ifndef LAUNCHER_SESSION_LAUNCH_H
#define LAUNCHER_SESSION_LAUNCH_H

#include "launcher/session/session_setup.h"

#include <sys/types.h>

struct launch;

/* Of agents that join a run instead, whose secret is as below. */
struct launch_join {
    const char *address; /* of that run's front end, numeric; port as below;
                            NULL: this one */
    uint32_t agents;     /* all its seats, and those that it began with */
    const char *seats;   /* of each node, "n2=4 n3=5" */
    const char *const *local; /* the nodes' names, if they are of --local */
};

/* Agents that ended, or could not be started, as srun tells. */
struct launch_absent {
    uint32_t first, last; /* their ranks */
    const char *node;     /* or Slurm's list of nodes, "n[2-3]" */
    const char *why;      /* the agent's last words, else how it ended */
    int not_executed;     /* another try is no use */
};

struct launch_setup {
    struct event_base *base;
    const struct session_setup *session; /* used during the call only */
    const struct secret *secret;    /* as it is at each start; outlives it */
    struct port_range ports;        /* for the agents to listen at */
    uint16_t port;                  /* where the front end listens */
    const struct launch_join *join; /* must outlive it; NULL: they do not */
    const char *record; /* of agents that linger, see lingering.h; or NULL */
    /* The current srun, or an agent of --local, has ended by itself. */
    void (*failed)(void *arg);
    /* Agents of the current srun have ended; those that came, too.  0: it is to
     * be told once more, soon.  Or NULL. */
    int (*absent)(void *arg, const struct launch_absent *absent);
    /* The current srun ends its step on all nodes.  Or NULL. */
    void (*aborted)(void *arg);
    /* None runs any more. */
    void (*ended)(void *arg);
    void *arg;
};

/* Nothing is started yet. */
int launch_open(struct launch **l,
                const struct launch_setup *setup,
                struct es_error *err);
/* Start srun, or the first agents of --local. */
int launch_start(struct launch *l, struct es_error *err);
/* So many agents have come: start more of --local, that not too many are on
 * their way. */
int launch_more(struct launch *l, size_t came, struct es_error *err);
/* Call absent() at once for what srun has said so far. */
void launch_look(struct launch *l);
/* May srun be started once more, if this start comes to nothing?  Then
 * launch_stop() and launch_start(). */
int launch_may_repeat(const struct launch *l);
/* There is no PMIx: the next start does without, and one more is allowed.
 * 0, or -1 if memory ran out. */
int launch_without_pmix(struct launch *l);
/* The next start does without the nodes of Slurm's list, so many are left, and one
 * more is allowed.  0, or -1: as companion_leave_out(), or it was done too often. */
int launch_leave_out(struct launch *l, const char *list, uint32_t left);
/* Once more, without PMIx, for agents that join as j says (it must outlive l), on
 * the n nodes of this list.  0, or -1: as launch_leave_out(), or srun cannot be
 * started. */
int launch_rejoin(struct launch *l,
                  const struct launch_join *j,
                  const char *list,
                  uint32_t n,
                  struct es_error *err);
/* Does the current srun say that it ends its step on all nodes, as it could not start
 * it on one of them?  Of a step that somebody cancels it does not. */
int launch_is_aborted(const struct launch *l);
int launch_is_by_tcp(const struct launch *l);
/* Those meant for data; "": none. */
const char *launch_interfaces(const struct launch *l);
/* Why Slurm does not create the companion step yet, as srun says; "": it has. */
const char *launch_queued(const struct launch *l);
/* The last that srun or an agent said on stderr, as one line; or "". */
const char *launch_said(const struct launch *l);
/* The process in whose environment the agents' secret is as long as they run; 0:
 * there is none. */
pid_t launch_keeper(const struct launch *l);
/* How many processes run. */
size_t launch_running(const struct launch *l);
/* End all that run: SIGTERM, and SIGKILL later (execution_stop()). */
void launch_stop(struct launch *l);
/* The agents have agreed to stay: what runs does so when we have ended. */
void launch_release(struct launch *l);
/* End them at once; NULL is allowed. */
void launch_destroy(struct launch *l);

#endif
