/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_account.h - what a report does not tell of a run's costs, worked out
 * from its slices as the run would have: ideal, equal parts, what the rest went
 * to, and each slice's start-up.
 */
#ifndef LAUNCHER_WHATIF_REPORT_ACCOUNT_H
#define LAUNCHER_WHATIF_REPORT_ACCOUNT_H

#include "launcher/whatif/report_file.h"

/* 0, or -1 if memory ran out. */
int report_account(struct report_file *f);

#endif
