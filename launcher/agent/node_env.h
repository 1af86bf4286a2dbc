/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node_env.h - the variables that the front end sends for the tasks of a step,
 * with what is known on this node only: the folders of STEP_ENV_LIBS are filled
 * in as destinations are (node_destination.h).
 */
#ifndef LAUNCHER_AGENT_NODE_ENV_H
#define LAUNCHER_AGENT_NODE_ENV_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Write the folders "a:b" as they are on this node; their text is cut up.  0, or
 * -1 with errno: ENOMEM, or ENAMETOOLONG of one of them. */
int node_env_folders(FILE *out,
                     char *folders,
                     const char *node,
                     char *const env[]);
/*
 * Lines NAME=value, len bytes; env ends with NULL.  Returns the new ones, *out_len
 * bytes, which the caller frees; NULL with errno set if there is no memory (ENOMEM)
 * or a folder gets too long (ENAMETOOLONG).
 */
char *node_env_fill(const uint8_t *lines,
                    size_t len,
                    const char *node,
                    char *const env[],
                    size_t *out_len);

#endif
