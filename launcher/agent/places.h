/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * places.h - what of a node each of its slots has for itself: CPUs, of those
 * that we may use, and a GPU.  Tasks may have several of both, whatever their slot has.
 */
#ifndef LAUNCHER_AGENT_PLACES_H
#define LAUNCHER_AGENT_PLACES_H

#include "launcher/wire/protocol.h"

#include <sched.h>

#define PLACE_WORDS 3
#define PLACE_CPUS  8192 /* as many as Linux can have, NR_CPUS of x86-64 */

struct place {
    cpu_set_t *cpus; /* PLACE_CPUS of them; NULL: those that we have */
    char *environ[PLACE_WORDS]; /* for the command; NULL: none */
};

struct places {
    struct place *place; /* n */
    size_t n;
    uint64_t memory;  /* bytes that the job has here */
    uint32_t *holder; /* one a place: 1 + the slot whose task has it; 0: none */
    struct place *held;   /* one a slot: of several, those that its task has */
    struct gpus *gpus;    /* that we may use, and ... */
    uint32_t *gpu_holder; /* ... one each, likewise */
};

/*
 * Make room as order says; environ and root are of gpus_find().  0: there may
 * be no place at all, for the reason in why.  -1: no memory.  To be cleared.
 */
int places_init(struct places *p,
                const struct msg_slots *order,
                char *const environ[],
                const char *root,
                char why[TEXT_MAX]);
void places_clear(struct places *p); /* {0} is allowed */

/* The next task of a slot has so many places for itself, as far as they are free, its
 * own first; cores 0: its own, whoever has it.  Likewise so many GPUs less one, and sees
 * no others; gpus 0: all that its place has.  environ has OMP_NUM_THREADS, or the place
 * gets it.  Valid until places_leave(); NULL: no memory. */
const struct place *places_take(struct places *p,
                                uint32_t slot,
                                uint32_t cores,
                                uint32_t gpus,
                                char *const environ[]);
void places_leave(struct places *p, uint32_t slot);

#endif
