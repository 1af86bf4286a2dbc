/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * paths.h - where evenstep's own programs are.
 */
#ifndef LAUNCHER_BASE_PATHS_H
#define LAUNCHER_BASE_PATHS_H

#include "pmix_bcast/error.h"

#include <stddef.h>

/*
 * evenstep-agent: configured if that is not "", else as it lies beside this
 * program.  It must have the same path on the nodes.
 */
int path_of_agent(char *path,
                  size_t size,
                  const char *configured,
                  struct es_error *err);

#endif
