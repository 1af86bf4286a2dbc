/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_state.h - what the files of `evenstep run` share: a run, from its options
 * to its summary.
 *
 *   run.c          begins and ends it
 *   run_nodes.c    nodes come, are measured, are lost, return, leave
 *   run_answers.c  what they say
 *   run_failures.c what is done when commands fail
 *   run_tasks.c    what came of the tasks of a piece
 *   run_early.c    it begins before all nodes are here and measured
 *   run_known.c    what is known of the nodes is told and kept
 *   run_join.c     nodes join it
 *   run_looks.c    what is done now and then
 *   run_limit.c    it ends before its work does
 *   run_frames.c   one frame after the other
 */
#ifndef LAUNCHER_RUN_RUN_STATE_H
#define LAUNCHER_RUN_RUN_STATE_H

#include "launcher/run/bringing.h"
#include "launcher/run/cost_history.h"
#include "launcher/run/failures.h"
#include "launcher/run/history.h"
#include "launcher/run/job_load_adjuster.h"
#include "launcher/run/joblog.h"
#include "launcher/run/node_history.h"
#include "launcher/run/programs.h"
#include "launcher/run/progress.h"
#include "launcher/run/receiving.h"
#include "launcher/run/remains.h"
#include "launcher/run/report.h"
#include "launcher/run/run_account.h"
#include "launcher/run/run_energy.h"
#include "launcher/run/run_listening.h"
#include "launcher/run/run_meter.h"
#include "launcher/run/run_options.h"
#include "launcher/run/run_power.h"
#include "launcher/run/run_stop.h"
#include "launcher/run/run_top.h"
#include "launcher/run/slots.h"
#include "launcher/run/task_results.h"
#include "launcher/run/task_text.h"
#include "launcher/run/work.h"
#include "launcher/session/drain.h"
#include "launcher/session/front.h"
#include "launcher/session/join_door.h"
#include "launcher/session/metrics_cast.h"
#include "launcher/session/qualification.h"
#include "launcher/session/standstill.h"

struct event;

/* LOADING and ENDING: of programs that stay alive from slice to slice. */
enum phase {
    STARTING,
    QUALIFYING,
    BRINGING,
    TELLING,
    LOADING,
    WORKING,
    ENDING,
    FINISHED
};

/* Of nodes that join: */
enum join_stage { JOIN_NOTHING, JOIN_WAITS, JOIN_LEAVES };

struct task_at_hand { /* of a slot */
    uint64_t piece;   /* id of that which has told last how far it is */
    uint64_t ended;   /* tasks of it that have */
    uint64_t bytes;   /* that it has sent of these */
    int64_t since_ns; /* the last of these did, as it is told */
    int gives_back;   /* it begins none behind the one at hand ... */
    int is_split;     /* ... and those before it are no more of it */
    struct task_stream stream; /* which tells it */
};

struct run_tasks {             /* of a run whose units are tasks: run_tasks.h */
    struct task_results now;   /* of the piece that has just come back */
    struct task_text text;     /* of the task at hand */
    char *has_good;            /* one a node: one of these was there; or NULL */
    struct task_at_hand *hand; /* one a slot, or NULL */
    /* words of what the agents are told: */
    char ok[1200], retries[32], timeout[40], delay[40], shell[4200];
};

struct run {
    const struct run_options *o;
    const struct config *config;
    struct es_error *err; /* of the command, filled when the run fails */
    struct front front;
    struct metrics_file metrics;      /* --metrics FILE */
    struct node_history node_history; /* of the job's nodes */
    struct qualification_setup qualify;
    struct qualification qualification;
    struct bring_list to_bring;
    struct bringing bringing; /* of these */
    struct metrics_cast cast;
    struct work work;
    struct config_profile profile; /* that is in force */
    struct run_type { /* one a type of work: what is learned of it */
        struct history history;
        struct threshold_noise noise;
        struct cost_record before;   /* what runs before have told */
        char elements[ELEMENTS + 1]; /* that its nodes are ranked by */
    } type[WORK_TYPES_MAX];
    struct job_load_adjuster adjuster[WORK_TYPES_MAX]; /* likewise */
    struct slots slots; /* of the nodes; n 0: not known yet */
    struct {
        uint32_t *each;   /* one a node: slots */
        uint64_t *memory; /* likewise: bytes of the job */
        uint32_t *gpus;   /* likewise */
        char *awaited;    /* likewise: its answer is */
        size_t missing;
    } asked;             /* how many slots it has */
    uint64_t *memory;    /* one a slot: of its node; NULL: no line says ... */
    uint32_t *gpus;      /* likewise */
    struct needs *needs; /* ... what a task needs */
    struct programs programs;       /* if they are persistent */
    struct run_listening listening; /* likewise */
    struct distribution *distribution;
    struct receiving receiving;
    struct remains remains; /* of a run that has failed; to NULL: they are not
                               kept */
    struct determination determination;
    struct report report;
    struct run_energy energy;
    struct failures failures; /* what was left out */
    struct run_tasks tasks;
    struct joblog joblog;
    struct progress progress;
    struct run_account account;
    struct run_meter meter;
    struct run_power power;
    struct run_top top;
    struct run_stop stop;
    struct {
        struct join_door *door; /* NULL: none may */
        char *stage;            /* one a node, enum join_stage; or NULL */
        int waiting;            /* some wait */
    } join;                     /* nodes that join it */
    struct {
        char *awaited; /* one a node, enum early_stage; NULL: all are known */
        int64_t since_ns; /* they are awaited */
    } early;
    struct {
        enum idle_reason
            *why; /* one a node: in all frames so far; NULL: in none */
        size_t n;
    } idlers;       /* nodes that have done nothing yet */
    int is_unkept;  /* a piece that is done is not in the journal */
    int idle;       /* the queue is empty, but has not ended */
    int told_stdin; /* that nobody reads it */
    char *overdue;  /* one a node: it was given up for --timeout */
    struct event *look;
    struct event *soon;  /* a look before that, for nodes that wait for it */
    struct drain *drain; /* NULL: not by Slurm */
    struct standstill *standstill;
    struct summary summary;
    int64_t start_ns; /* of the first frame */
    enum phase phase;
};

#define RUN_ALL_NODES SIZE_MAX /* in place of one */

/* Is the plugin to start evenstep-power beside the agents, to set limits, or to
 * read what the nodes use, for the report? */
int run_wants_guard(const struct run *r);
int run_wants_energy(const struct run *r);
/* The end of the run, well or (with r->err filled) not. */
void run_finish(struct run *r, int failed);

#endif
