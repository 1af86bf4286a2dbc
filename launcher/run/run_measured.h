/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_measured.h - which nodes a run need not measure, as one before it in the
 * same job has.
 *
 * Nothing is taken over where --metrics asks for a probe, and where the links
 * between the nodes count for most: all nodes measure these together.
 */
#ifndef LAUNCHER_RUN_RUN_MEASURED_H
#define LAUNCHER_RUN_RUN_MEASURED_H

#include "launcher/run/run_state.h"

/* Before the nodes are asked: what is known goes into r->qualify. */
void run_measured_find(struct run *r);
/* They have answered: keep it for the next run, if it is all new. */
void run_measured_keep(struct run *r);
void run_measured_clear(struct run *r);

#endif
