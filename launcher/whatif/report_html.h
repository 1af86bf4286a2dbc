/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_html.h - reports as one page of HTML that needs no other file: several
 * of them side by side.
 */
#ifndef LAUNCHER_WHATIF_REPORT_HTML_H
#define LAUNCHER_WHATIF_REPORT_HTML_H

#include "launcher/whatif/any_report.h"

/* Of n >= 1 reports.  Fails with ES_WORK, or ES_ENV without memory. */
int report_html_write(const char *path,
                      const struct any_report r[],
                      size_t n,
                      struct es_error *err);

#endif
