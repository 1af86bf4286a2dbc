/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_running.h - a task graph that runs: its whole state, and the small
 * services for those who act on it.
 *
 *   graph_run        begins and ends it, and hears of nodes
 *   graph_release    names and gives back nodes that are not used
 *   graph_opening    opens the nodes' folders, has them qualified, then makes
 *                    the plan
 *   graph_feedback   takes in what nodes say of tasks and files
 *   graph_recover    finds new places for what has lost its own
 *   graph_stage_in   sends tasks to their nodes, and what they wait for
 *   graph_stage_out  brings results to the user
 *
 * Each may call those below it.  Where nothing is returned a failure ends the
 * run by graph_finish().
 */
#ifndef LAUNCHER_GRAPH_GRAPH_RUNNING_H
#define LAUNCHER_GRAPH_GRAPH_RUNNING_H

#include "launcher/base/report_out.h"
#include "launcher/graph/graph_journal.h"
#include "launcher/graph/graph_learn.h"
#include "launcher/graph/graph_progress.h"
#include "launcher/graph/graph_speeds.h"
#include "launcher/graph/graph_state.h"
#include "launcher/graph/graph_top.h"
#include "launcher/graph/graph_wish.h"
#include "launcher/session/energy.h"
#include "launcher/session/front.h"
#include "pmix_bcast/exchange.h"

enum phase { STARTING, OPENING, RUNNING, FINISHED };

/* An input or a result. */
struct user_file {
    struct exchange_file file; /* as it is, or is to be */
    uint32_t from; /* the node that a result is coming from, or GRAPH_NOBODY */
};

/* The state of a run. */
struct graph_running {
    const struct graph_run_wish *o;
    const struct graph_file *f;
    struct es_error *err; /* of the command, filled when the run fails */
    struct front front;
    struct listener *listener;
    struct mesh *mesh;
    struct exchange *exchange;
    struct graph_work work;
    struct graph_state state;
    struct graph_journal journal;
    struct graph_progress progress;
    struct graph_top top;
    struct machine machine;
    struct processor_kind *kind; /* by node: the machine's */
    uint32_t *own_cores;         /* by node: that it has for us */
    struct graph_speeds speeds;
    uint32_t *order;           /* by task, on every core; NULL: the graph's */
    struct user_file *user;    /* by file */
    struct graph_input *input; /* by file: those of the user */
    struct exchange_file
        *made;          /* by file: as the last task made it; without number */
    uint8_t *delivered; /* by file */
    uint8_t *was_done;  /* by task, from the journal */
    uint8_t *released;  /* by node: given back */
    uint32_t undelivered; /* results */
    char run[GRAPH_RUN_NAME];
    uint32_t opened;
    struct schedule_sum planned;
    int64_t deadline; /* ns from the start, or GRAPH_PLAN_FOREVER */
    int64_t begin_ns;
    enum phase phase;
    int is_told; /* a node, at least, has had a SIGTERM */
    struct graph_measured measured;
    struct report_out report;
    struct energy_watch *energy; /* from the start on; NULL: not watched */
    double messages_s;           /* of all files on their way between nodes */
};

/* The end of the run, well or (with r->err filled) not. */
void graph_finish(struct graph_running *r, int failed);
/* The end of the run, if nothing is left to be done. */
void graph_check_end(struct graph_running *r);
/* ns since the run began. */
int64_t graph_running_ns(const struct graph_running *r);
const char *graph_node_name(const struct graph_running *r, uint32_t node);
/* Send what w holds and clear it. */
void graph_say(struct graph_running *r,
               uint32_t node,
               enum graph_kind kind,
               struct writer *w);

#endif
