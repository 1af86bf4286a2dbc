/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * markup.h - text of users, hosts and files in XML and HTML.
 */
#ifndef LAUNCHER_BASE_MARKUP_H
#define LAUNCHER_BASE_MARKUP_H

#include <stdio.h>

/* Print text, between tags or in an attribute in double quotes: it stays text
 * there, whatever is in it.  What XML cannot hold becomes a question mark. */
void markup_print(FILE *out, const char *text);

#endif
