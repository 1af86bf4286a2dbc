/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * html_run.h - a run's report in a page: what was gained, who worked when,
 * shares, what the time went to, probes, progress and limits, watts.
 */
#ifndef LAUNCHER_WHATIF_HTML_RUN_H
#define LAUNCHER_WHATIF_HTML_RUN_H

#include "launcher/whatif/report_file.h"

#include <stdio.h>

/* Time of equal parts over that of the run; 0 if nobody knows. */
double html_run_gain(const struct report_file *f);
/* Its lowest units a second, but only if there are two nodes; NULL: there is
 * none. */
const char *html_run_slowest(const struct report_file *f);
/* A cell; "-" where nothing was done. */
void html_run_efficiency(FILE *out, const struct account_result *a);
/* What was gained. */
void html_run_top(FILE *out, const struct report_file *f);
/* The rest: 0, or -1 if memory ran out. */
int html_run_rest(FILE *out, const struct report_file *f);

#endif
