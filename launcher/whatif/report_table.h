/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_table.h - reports as one table with tabs between its columns, for R or
 * pandas: a row for each node of each frame, or for each node, or each task.
 * What is not known is NA.  The columns are in evenstep-report(5).
 */
#ifndef LAUNCHER_WHATIF_REPORT_TABLE_H
#define LAUNCHER_WHATIF_REPORT_TABLE_H

#include "launcher/whatif/any_report.h"

#include <stdio.h>

/* 0, or -1 if something cannot be written or memory ran out. */
int report_table_head(FILE *out, enum report_kind kind);
int report_table_rows(FILE *out, const struct any_report *r);

#endif
