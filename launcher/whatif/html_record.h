/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * html_record.h - the report of a broadcast, of probes, of a task graph or of a
 * step in a page.
 */
#ifndef LAUNCHER_WHATIF_HTML_RECORD_H
#define LAUNCHER_WHATIF_HTML_RECORD_H

#include "launcher/whatif/any_report.h"

#include <stdio.h>

void html_record(FILE *out, const struct any_report *r);

#endif
