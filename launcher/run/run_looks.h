/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_looks.h - what a run does now and then: who is late helps nobody, and who
 * is idle takes over from others.
 */
#ifndef LAUNCHER_RUN_RUN_LOOKS_H
#define LAUNCHER_RUN_RUN_LOOKS_H

#include "launcher/run/run_state.h"

/* 0, or -1 if memory ran out; to be stopped in any case. */
int run_looks_start(struct run *r);
void run_looks_stop(struct run *r);
/* A node that is idle takes over at the next look at the tail. */
void run_looks_soon(struct run *r);

#endif
