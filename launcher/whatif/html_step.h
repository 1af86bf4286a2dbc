/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * html_step.h - a step's report in a page: why it took so long, the factors, how
 * the time of each rank went, call sites, ranks and nodes.
 */
#ifndef LAUNCHER_WHATIF_HTML_STEP_H
#define LAUNCHER_WHATIF_HTML_STEP_H

#include "launcher/whatif/any_report.h"

#include <stdio.h>

void html_step(FILE *out, const struct any_report *r);

#endif
