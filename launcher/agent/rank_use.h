/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_use.h - what the ranks of a node have of it, four times a second: CPU
 * time, waiting for that, their quotas; what other processes of the node have;
 * and which rank has died, and of what.
 *
 * A rank is told by the process and the thread that took its slot of the meter
 * page.  How it ended the plugin writes into the step directory (RANK_EXITS).
 */
#ifndef LAUNCHER_AGENT_RANK_USE_H
#define LAUNCHER_AGENT_RANK_USE_H

#include "launcher/meter/group_events.h"
#include "launcher/meter/process_use.h"
#include "launcher/wire/protocol.h"

#define RANK_USE_NS    INT64_C(250000000) /* between two looks */
#define RANK_EXITS     "ended" /* in the step directory: struct rank_exit each */
#define RANK_EXITS_MAX 1024u

struct rank_exit {
    uint32_t rank, status; /* as of wait(2) */
    int64_t ns;            /* when, as of CLOCK_MONOTONIC */
};

struct rank_use { /* all zero: of a rank that was never seen */
    struct process_use process;
    pid_t pid;             /* 0: none yet */
    struct msg_rank ended; /* what its programs before had */
    struct group_place place;
    uint64_t place_ns;   /* throttled there, when it came */
    double throttled;    /* in places before */
    uint64_t killed;     /* there, when the process began */
    uint64_t thread_cpu; /* at the last look but one */
    int64_t seen_ns;     /* alive */
    int has_died;
    uint32_t looks;
};

struct node_use;

/* NULL: no memory.  exits: a descriptor of that file, owned from now on; -1: there
 * is none. */
struct node_use *node_use_create(int exits);
/* Look at a rank whose slot that process and thread have, or (0) nobody has any
 * more; whole: in all respects, as when it ends. */
void rank_use_look(struct node_use *n,
                   struct rank_use *r,
                   pid_t pid,
                   pid_t thread,
                   int64_t now,
                   int whole);
/* Its process has ended. */
int rank_use_has_died(const struct rank_use *r);
/* CPU time of its thread, between the last two looks; -1: not known. */
double rank_use_step_ns(const struct rank_use *r);
/* When it ended: as the plugin has told, else when it was last seen alive. */
int64_t rank_use_ended_ns(const struct node_use *n,
                          const struct rank_use *r,
                          uint32_t rank,
                          int64_t now);
/* Fill in the fields of a rank's that are known here; has it died before it left
 * MPI, its status. */
void rank_use_fill(const struct node_use *n,
                   const struct rank_use *r,
                   struct msg_rank *m);
void rank_use_clear(struct rank_use *r);
/* Look at the node; all that is known of the ranks' CPU time is own_ns. */
void node_use_look(struct node_use *n, double own_ns, int whole);
void node_use_fill(const struct node_use *n, struct msg_ranks *m);
/* NULL is allowed. */
void node_use_destroy(struct node_use *n);

#endif
