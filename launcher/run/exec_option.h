/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exec_option.h - --exec DST: the program of the command is brought to DST on
 * every node, and run from there, as `srun --bcast=DST` does.
 */
#ifndef LAUNCHER_RUN_EXEC_OPTION_H
#define LAUNCHER_RUN_EXEC_OPTION_H

#include "pmix_bcast/bcast_message.h"
#include "pmix_bcast/error.h"

#include <limits.h>

struct exec_option {
    const char *given;                 /* NULL: not; into argv */
    char source[PATH_MAX];             /* the program here */
    char destination[DESTINATION_MAX]; /* for nodes to fill in */
};

/*
 * Find the program that is the first word of a command: as execvp(3) does, but
 * on this host.  A destination that ends with a slash is a folder, in which the
 * program keeps its name.  0, or -1 with ES_USAGE, or ES_WORK if it is not there
 * or cannot be run.
 */
int exec_option_settle(struct exec_option *e,
                       char *const command[],
                       struct es_error *err);

#endif
