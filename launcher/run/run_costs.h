/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_costs.h - what the command of `evenstep run` costs goes from one run to
 * the next.  Of programs that stay alive only this run knows: they start but
 * once.
 */
#ifndef LAUNCHER_RUN_RUN_COSTS_H
#define LAUNCHER_RUN_RUN_COSTS_H

#include "launcher/run/run_state.h"

/* Before the first piece: what runs before have found out, which the report
 * has, too. */
void run_costs_expect(struct run *r);
/* Likewise now that more is known of the nodes; what pieces have told stays. */
void run_costs_expect_again(struct run *r);
/* At the end of a run that went well: what this one has. */
void run_costs_keep(struct run *r);

#endif
