/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roll.h - the list of agents that have called the front end at the start, and
 * the endpoint of each.  It is complete when every rank has called once.
 */
#ifndef LAUNCHER_WIRE_ROLL_H
#define LAUNCHER_WIRE_ROLL_H

#include "launcher/wire/protocol.h"

struct roll {               /* all zero: nobody has called */
    struct endpoint *agent; /* n, by rank; port 0: it has not called */
    uint32_t n, called;
};

/* An agent sends HERE.  0, or -1 if its number of agents is not that of the
 * others, or its rank has called already. */
int roll_call(struct roll *r, const struct msg_here *m);
/* The connection to an agent is lost: it may call again. */
void roll_lost(struct roll *r, uint32_t rank);
int roll_is_complete(const struct roll *r);
void roll_clear(struct roll *r);

#endif
