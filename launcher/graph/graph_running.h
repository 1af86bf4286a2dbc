/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_running.h - a task graph that runs: what graph_run.c, which begins and
 * ends it, shares with those who act on what the nodes say.
 *
 *   graph_supply.c   sends tasks to their nodes, and what they wait for after
 *   graph_recover.c  finds new places for what has lost its own
 *   graph_deliver.c  gives and takes the user's own files
 *   graph_hear.c     hears of tasks and files, and says who is next
 *
 * Where nothing is returned a failure ends the run: graph_finish().
 */
#ifndef LAUNCHER_GRAPH_GRAPH_RUNNING_H
#define LAUNCHER_GRAPH_GRAPH_RUNNING_H

#include "launcher/graph/graph_journal.h"
#include "launcher/graph/graph_learn.h"
#include "launcher/graph/graph_progress.h"
#include "launcher/graph/graph_run.h"
#include "launcher/graph/graph_state.h"
#include "launcher/session/front.h"
#include "pmix_bcast/exchange.h"

struct stat;

enum phase { STARTING, OPENING, RUNNING, FINISHED };

/* A file of the user's: one that is taken, or a result. */
struct user_file {
    struct exchange_file file; /* as it is, or is to be */
    uint32_t from; /* a result on its way: the node; else GRAPH_NOBODY */
};

/* The whole of a run. */
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
    struct machine machine;
    struct user_file *user;     /* by file */
    struct graph_input *input;  /* by file: those of the user */
    struct exchange_file *made; /* by file: as it was made last; number is not
                                   set */
    uint8_t *delivered;         /* by file */
    uint8_t *was_done;          /* by task: says the journal */
    uint32_t undelivered;       /* results */
    char run[GRAPH_RUN_NAME];
    uint32_t opened;
    struct schedule_sum planned;
    int64_t deadline; /* ns from the start, or GRAPH_PLAN_FOREVER */
    int64_t begin_ns;
    enum phase phase;
    struct graph_measured measured;
    double messages_s; /* of all files on their way between nodes */
};

/* --- graph_run.c ---------------------------------------------------------- */

/* The end of the run, well or (with r->err filled) not. */
void graph_finish(struct graph_running *r, int failed);
/* Nothing is to be done any more: the end. */
void graph_check_end(struct graph_running *r);
/* Since it began. */
int64_t graph_running_ns(const struct graph_running *r);
int graph_no_memory(struct es_error *err);
const char *graph_node_name(const struct graph_running *r, uint32_t node);
/* Send what w holds and clear it. */
void graph_say(struct graph_running *r,
               uint32_t node,
               enum graph_kind kind,
               struct writer *w);

/* --- graph_supply.c: 0, or -1 with r->err --------------------------------- */

/* See that all that a place waits for is or comes to its node; what is
 * nowhere yet will be supplied when it is. */
int graph_supply(struct graph_running *r, uint32_t place);
/* The same for all places that wait for a task; on one node, or GRAPH_NOBODY.
 */
int graph_supply_followers(struct graph_running *r,
                           uint32_t task,
                           uint32_t node);
int graph_send_task(struct graph_running *r, uint32_t place);
/* Tell a node that what it has is what it takes it for. */
void graph_send_here(struct graph_running *r, uint32_t node, uint32_t token);
/* Add a place, tell its node, and supply it. */
int graph_add_place(struct graph_running *r, const struct place *p);

/* --- graph_recover.c ------------------------------------------------------ */

/* Something is gone: see what must be done again, and by whom. */
void graph_recover(struct graph_running *r);
/* A node that was lost is here again: what has not begun yet is placed anew,
 * on all nodes. */
void graph_spread(struct graph_running *r);
/* A file could not be brought from a node: it is not there, or no way. */
void graph_bring_failed(struct graph_running *r,
                        uint32_t token,
                        uint32_t from,
                        const char *to,
                        const char *why);

/* --- graph_deliver.c ------------------------------------------------------ */

/* A result goes to the user, if it is somewhere and not on its way. */
void graph_deliver(struct graph_running *r, uint32_t file);
void graph_deliver_all(struct graph_running *r);
int graph_is_result(const struct graph_running *r, uint32_t file);
/* Is a result that was delivered still there, and what it was? */
int graph_is_delivered(const struct graph_running *r,
                       uint32_t file,
                       const struct exchange_file *made);
struct graph_input graph_input_of(const struct stat *st);
/* For the exchange: open a file of the user's; a result is here. */
int graph_give(void *running, uint32_t file);
void graph_take_result(void *running,
                       uint32_t from,
                       uint32_t file,
                       int64_t elapsed_ns,
                       const char *why);

/* --- graph_hear.c --------------------------------------------------------- */

void graph_hear_done(struct graph_running *r,
                     uint32_t node,
                     const struct graph_done *m);
void graph_hear_brought(struct graph_running *r,
                        uint32_t node,
                        const struct graph_brought *m);

#endif
