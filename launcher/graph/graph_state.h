/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_state.h - how far a running task graph is: where its tasks run or have
 * run, and which nodes have which files.
 *
 * A place is one try of a task on a core of a node; a task that is run twice,
 * or tried again, has several.  A token is what a task waits for: a file, or,
 * where no file comes from a predecessor, that it is done.  Files have the
 * tokens from 0, tasks those behind.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_STATE_H
#define LAUNCHER_GRAPH_GRAPH_STATE_H

#include "launcher/graph/graph_work.h"
#include "pmix_bcast/exchange.h"

enum place_state {
    PLACE_WAITING, /* or running: its node knows */
    PLACE_DONE,
    PLACE_GONE, /* failed, or its node is lost */
};

struct place {
    uint32_t task, node, core;
    uint32_t next; /* of the task, or GRAPH_NOBODY */
    enum place_state state;
    int64_t planned_start, planned_finish; /* ns from the start */
    int64_t start, finish;
};

/* A node that has a token, or to which it is on its way. */
struct holder {
    uint32_t node;
    uint32_t from; /* where it is fetched; HOLDER_HERE: it is here */
    struct exchange_file file;
};

#define HOLDER_HERE (UINT32_MAX - 1) /* no rank, and not FRONT_END */

struct graph_state {
    const struct graph *graph;
    const struct graph_work *work;
    const uint32_t *order; /* by task, on every core; NULL: the graph's */
    struct place *place;
    uint32_t places;
    size_t room;
    uint32_t waiting; /* places that are PLACE_WAITING */
    uint32_t tasks_done;
    struct task_state {
        uint32_t first; /* place, or GRAPH_NOBODY */
        uint32_t *token;
        uint32_t tokens;
        unsigned fails;
        uint32_t excluded; /* node where it has failed, or GRAPH_NOBODY */
        uint8_t done;      /* what it makes is somewhere */
    } * task;
    struct token_state {
        struct holder *holder;
        uint32_t holders;
        unsigned fails; /* to bring it */
    } * token;
    uint32_t tokens;
    uint8_t *usable; /* by node */
    uint32_t nodes;
};

/* 0, or -1 if memory ran out; to be released by graph_state_clear() in both
 * cases.  g and w must outlive it. */
int graph_state_init(struct graph_state *s,
                     const struct graph *g,
                     const struct graph_work *w,
                     uint32_t nodes);
void graph_state_clear(struct graph_state *s);

/* The token that a task is done; who makes a token, or GRAPH_NOBODY. */
uint32_t graph_state_task_token(const struct graph_state *s, uint32_t task);
uint32_t graph_state_maker(const struct graph_state *s, uint32_t token);

/* A new place, PLACE_WAITING; its number, or GRAPH_NOBODY without memory. */
uint32_t graph_state_add(struct graph_state *s, const struct place *place);
/* A place is not waiting any more. */
void graph_state_end(struct graph_state *s,
                     uint32_t place,
                     enum place_state state);
/* A place of the task that waits, on that node or (GRAPH_NOBODY) on any; or
 * GRAPH_NOBODY. */
uint32_t graph_state_waiting(const struct graph_state *s,
                             uint32_t task,
                             uint32_t node);

/* What is known of a token on a node, or NULL. */
struct holder *graph_state_holder(const struct graph_state *s,
                                  uint32_t token,
                                  uint32_t node);
/* A node other than `but` that has it, or NULL. */
const struct holder *graph_state_source(const struct graph_state *s,
                                        uint32_t token,
                                        uint32_t but);
/* 0, or -1 if memory ran out. */
int graph_state_hold(struct graph_state *s,
                     uint32_t token,
                     const struct holder *holder);
void graph_state_let_go(struct graph_state *s, uint32_t token, uint32_t node);

/* The node is lost: what waited there is gone, and what it had. */
void graph_state_lose(struct graph_state *s, uint32_t node);
/* May the core be running this place? It is the first in the order of the graph
 * of those that wait there, and its inputs are made. */
int graph_state_may_run(const struct graph_state *s, uint32_t place);
/*
 * Tasks that are done and must be done again, because what they made is
 * nowhere and somebody still needs it, are not done any more.
 *
 *   delivered  by file: results that the user has
 */
void graph_state_review(struct graph_state *s, const uint8_t delivered[]);

#endif
