/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_dir.h - the step directory on a node, /dev/shm/evenstep-<uid>/<step>:
 * where the plugin and the tasks find what the agent has for them.
 *
 * Files are written beside, then renamed, and never half-visible; directories
 * are made 0700 and must be the user's own (design, section 11).
 */
#ifndef LAUNCHER_STEP_DIR_H
#define LAUNCHER_STEP_DIR_H

#include <stddef.h>

#define STEP_DIR_BASE "/dev/shm"

/*
 * Put content as file into the directory of this step, both plain names; if
 * file is "" the directory is made and no more.
 * Returns 0, or an errno value.
 */
int step_dir_put(const char *step,
                 const char *file,
                 const void *content,
                 size_t len);
/* Its full path, as EVENSTEP_DIR has it. */
void step_dir_path(const char *step, char path[128]);
/* Remove the step's directory and what is in it; nothing there is fine. */
void step_dir_remove(const char *step);

#endif
