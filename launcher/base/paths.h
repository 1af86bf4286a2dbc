/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * paths.h - where evenstep's own programs are.
 */
#ifndef LAUNCHER_BASE_PATHS_H
#define LAUNCHER_BASE_PATHS_H

#include "pmix_bcast/error.h"

#include <stddef.h>

/*
 * The path of evenstep-agent: the configured one, or if that is "" the one
 * beside this program.  The nodes must have it at the same path.  Fails with
 * ES_ENV if it is not here, or cannot be executed: the message says which.
 */
int path_of_agent(char *path,
                  size_t size,
                  const char *configured,
                  struct es_error *err);

#endif
