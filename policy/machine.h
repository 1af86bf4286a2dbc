/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * machine.h - the processors that a task graph runs on, alike or not.
 *
 * Processors may differ in speed, cores and memory.  A task that needs several
 * cores has neighbouring ones for itself; one that needs more memory than its
 * cores' part of the processor's has as many cores as that memory belongs to,
 * so that tasks that run together never want more than there is.
 */
#ifndef POLICY_MACHINE_H
#define POLICY_MACHINE_H

#include "policy/graph.h"

/* Slower ones are better left alone, and sums stay small. */
#define MACHINE_SLOWNESS_MAX 1e4

/* Watts; those in brackets are of the publication's example. */
struct power {
    double busy; /* a core at work (10) */
    double idle; /* a core of an occupied processor that waits (2) */
    double link; /* a message, as long as it takes (5) */
    double base; /* an occupied processor besides its cores (0) */
};

/* What a processor is. */
struct processor_kind {
    double slowness;   /* tasks take so many times as long as in the graph */
    uint32_t cores;    /* that it has, 1 to the machine's */
    double core_bytes; /* memory that belongs to each; 0: not known */
};

struct machine {
    uint32_t processors; /* there are, or may be used */
    uint32_t cores;      /* of one processor; of that with most */
    struct power power;
    double core_bytes;                 /* of each without kinds; 0: not known */
    const struct processor_kind *kind; /* by processor; NULL: they are alike,
                                          as fast as the graph's times say */
};

struct instance {
    uint32_t task, processor, core; /* core: the first of its cores */
    int64_t start, finish;          /* ns, from the start of the whole */
};

/* The next three are asked millions of times for a plan. */

static inline uint32_t machine_cores(const struct machine *m,
                                     uint32_t processor)
{
    return m->kind ? m->kind[processor].cores : m->cores;
}

/* How long something takes there: exactly the time where nothing differs. */
static inline int64_t machine_time(const struct machine *m,
                                   int64_t time,
                                   uint32_t processor)
{
    double slowness = m->kind ? m->kind[processor].slowness : 1;

    if (slowness > 1 || slowness < 1)
        return (int64_t)((double)time * slowness + 0.5);
    return time;
}

/* machine_width() of a task that says what it needs. */
uint32_t machine_width_needed(const struct machine *m,
                              const struct graph_need *need,
                              uint32_t processor);

/* How many cores a task has there; 0: it does not fit. */
static inline uint32_t machine_width(const struct machine *m,
                                     const struct graph *g,
                                     uint32_t task,
                                     uint32_t processor)
{
    return g->need ? machine_width_needed(m, &g->need[task], processor) : 1;
}

/* A task that fits no processor, or GRAPH_NOBODY. */
uint32_t machine_misfit(const struct machine *m, const struct graph *g);

/* Are the processors alike, and does no task need more than a core? */
int machine_is_plain(const struct machine *m, const struct graph *g);

/* Scratch memory of machine_seat(). */
struct seating {
    uint32_t *first; /* by task */
    uint32_t *next;  /* by instance */
    double *load;    /* by processor, core seconds */
};

/*
 * Let n instances that were placed as if all processors were alike and all
 * tasks had one core be where they fit: a core number that is too high is
 * lowered, a task that does not fit its processor goes to that of those it fits
 * which has least to do, and of several on one processor one is left.
 * Returns how many are left, or 0 if a task fits none of m's processors.
 */
uint32_t machine_seat(const struct machine *m,
                      const struct graph *g,
                      struct instance instance[],
                      uint32_t n,
                      const struct seating *s);

#endif
