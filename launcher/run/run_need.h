/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_need.h - nodes that have not what the profile needs (profile { need }).
 */
#ifndef LAUNCHER_RUN_RUN_NEED_H
#define LAUNCHER_RUN_RUN_NEED_H

#include "launcher/run/run_state.h"

/* All nodes have been measured and their slots are known: take the slots of
 * those that have less than the profile needs, with a line each, so that they
 * get nothing.  Of what is not known a node counts as having enough.  0, or -1
 * and r->err filled: no node is left, or no memory. */
int run_need_check(struct run *r);

#endif
