/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dry_run.h - `evenstep run --dry-run`: the first command of every node is
 * printed, as a shell would take it, and none is run.
 */
#ifndef LAUNCHER_RUN_DRY_RUN_H
#define LAUNCHER_RUN_DRY_RUN_H

#include "launcher/run/run_options.h"

#include <stdio.h>

/*
 * One line, "n0: render 0 25  # units 0:25 of its 250"; behind it what would be on
 * stdin.  slice is the 250; 0 if it is not known, and less than the piece where frames
 * are cut as one.  0, or -1 if memory ran out or `to` does not take it.
 */
int dry_run_print(FILE *to,
                  const struct run_options *o,
                  const struct msg_run *piece,
                  const char *node,
                  uint64_t slice);

#endif
