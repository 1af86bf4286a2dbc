/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * help.h - what `evenstep COMMAND --help` prints.
 */
#ifndef LAUNCHER_BASE_HELP_H
#define LAUNCHER_BASE_HELP_H

#include "pmix_bcast/error.h"

/* Print it on stdout.  Fails with ES_WORK if that cannot be written. */
int help_print(const char *text, struct es_error *err);

#endif
