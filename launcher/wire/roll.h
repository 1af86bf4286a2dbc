/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roll.h - who of the agents of a start has called the front end, and where the others
 * reach it.  It is complete when each rank has called once.
 */
#ifndef LAUNCHER_WIRE_ROLL_H
#define LAUNCHER_WIRE_ROLL_H

#include "launcher/wire/protocol.h"

struct roll {               /* all zero: nobody has called */
    struct endpoint *agent; /* n, by rank; without a port: not here */
    uint32_t n, called;
};

/* An agent says HERE: 0, or -1 if it is none of those that have called (all of
 * one start say the same number), or its rank has called already. */
int roll_call(struct roll *r, const struct msg_here *m);
/* It is here no more. */
void roll_lost(struct roll *r, uint32_t rank);
int roll_is_complete(const struct roll *r);
void roll_clear(struct roll *r);

#endif
