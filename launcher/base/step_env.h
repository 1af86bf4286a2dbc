/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_env.h - the environment that the plugin sets for the tasks of a step on
 * this node.  The front end sends its lines; the paths of the step directory
 * are known on this node only.
 */
#ifndef LAUNCHER_BASE_STEP_ENV_H
#define LAUNCHER_BASE_STEP_ENV_H

#include <stddef.h>

#define STEP_ENV "env" /* in the step directory; lines EVENSTEP_NAME=value */

/* Of them, the folders that come first in LD_LIBRARY_PATH, as "a:b". */
#define STEP_ENV_LIBS "EVENSTEP_LIBS"
/* Of that list, which ENV_VALUE_LEN of the plugin bounds, with room for what
 * nodes fill in. */
#define LIBS_LIST_MAX 3584

/* Write EVENSTEP_DIR, EVENSTEP_SOCKET and then these lines to that file.
 * Returns 0 or an errno value. */
int step_env_put(const char *step, const void *lines, size_t len);

#endif
