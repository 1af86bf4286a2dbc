/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_env.h - what the plugin sets for the tasks of a step on this node: home
 * tells what, and where the step directory is only this node knows.
 */
#ifndef LAUNCHER_BASE_STEP_ENV_H
#define LAUNCHER_BASE_STEP_ENV_H

#include <stddef.h>

#define STEP_ENV "env" /* in the step directory; lines EVENSTEP_NAME=value */

/* Put these lines there, with EVENSTEP_DIR and EVENSTEP_SOCKET before them.
 * Returns 0, or an errno value. */
int step_env_put(const char *step, const void *lines, size_t len);

#endif
