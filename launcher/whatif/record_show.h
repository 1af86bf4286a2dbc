/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record_show.h - the report of a broadcast, of probes or of a task graph as
 * tables, JSON, or a picture.
 */
#ifndef LAUNCHER_WHATIF_RECORD_SHOW_H
#define LAUNCHER_WHATIF_RECORD_SHOW_H

#include "launcher/whatif/any_report.h"

#include <stdio.h>

/* 0, or -1 if something cannot be written. */
int record_show_table(FILE *out, const struct any_report *r);
/* {"bcast":FIRST,"nodes":[...]}, and so on, of the lines as they are. */
int record_show_json(FILE *out, const struct any_report *r);

#endif
