/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_tasks.h - the tasks that a node runs of a task graph.
 *
 * Each core has a queue, in the order that the front end gives.  Its first
 * task starts as soon as the core is free and the node holds all tokens that
 * the task waits for.  What a task makes is held when it has ended well.
 */
#ifndef LAUNCHER_AGENT_GRAPH_TASKS_H
#define LAUNCHER_AGENT_GRAPH_TASKS_H

#include "launcher/wire/graph_message.h"

#define GRAPH_TOKENS_MAX (1u << 25) /* of a graph; a byte each */

struct event_base;
struct throttle;
struct work_folder;
struct graph_tasks;

struct graph_tasks_setup {
    struct event_base *base;
    struct work_folder *folder;
    const char *node;
    char **environ;
    struct throttle *throttle; /* NULL: full speed; else one task at a time */
    int keep;                  /* outputs must outlive a crash of the node */
    void (*send)(void *arg, enum graph_kind kind, struct writer *w);
    void (*idle)(void *arg); /* after graph_tasks_stop(): all have ended */
    void *arg;
};

/* What setup points to must outlive it.  NULL if memory ran out. */
struct graph_tasks *graph_tasks_create(const struct graph_tasks_setup *setup);
/* End it, at once; NULL is allowed. */
void graph_tasks_destroy(struct graph_tasks *g);

/* The bodies of TASK and DROP; -1 if one breaks the protocol. */
int graph_tasks_receive(struct graph_tasks *g, const uint8_t *body, size_t len);
int graph_tasks_drop(struct graph_tasks *g, const uint8_t *body, size_t len);

/* The node holds the token, which is below GRAPH_TOKENS_MAX.  Returns 0, or
 * -1 if memory ran out. */
int graph_tasks_hold(struct graph_tasks *g, uint32_t token);
int graph_tasks_holds(const struct graph_tasks *g, uint32_t token);
/* Start what can be, until graph_tasks_stop(). */
void graph_tasks_start(struct graph_tasks *g);

/* Forget what waits and end what runs.  Returns how many still run; NULL is
 * allowed. */
unsigned graph_tasks_stop(struct graph_tasks *g);

#endif
