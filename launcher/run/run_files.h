/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_files.h - what `evenstep run` writes is not what it reads, of all files that
 * its command line names.
 */
#ifndef LAUNCHER_RUN_RUN_FILES_H
#define LAUNCHER_RUN_RUN_FILES_H

#include "launcher/run/run_options.h"

/* Beyond what options_parse() has compared: queues, what is brought, and the files
 * of pieces.  Both fail with ES_USAGE. */
int run_files_check(const struct run_options *o, struct es_error *err);
/* And the programs, when run_options_settle() has found them. */
int run_files_check_programs(const struct run_options *o, struct es_error *err);

#endif
