/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * places.h - what of a node each of its slots has for itself: CPUs, of those
 * that we may use, and a GPU.
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

#endif
