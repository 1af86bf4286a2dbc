/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_known.h - what is known of the nodes goes to the report, to the next runs of
 * the job, and to the nodes themselves.
 */
#ifndef LAUNCHER_RUN_RUN_KNOWN_H
#define LAUNCHER_RUN_RUN_KNOWN_H

#include "launcher/run/run_state.h"

/* Before the report's first line: whose it is, and what they have measured. */
void run_known_report(struct run *r);
/* A node, or all that are present (RUN_KNOWN_ALL), gets its metrics.json. */
#define RUN_KNOWN_ALL SIZE_MAX
void run_known_put(struct run *r, size_t node);
/* All is known that will be: it is kept for the job. */
void run_known_keep(const struct run *r);

#endif
