/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_dir.h - the step directory on a node, /dev/shm/evenstep-<uid>/<step>:
 * where the plugin and the tasks find what the agent has for them.  Where
 * another user has taken that name it is in one that only this user has
 * (user_dir.h), so that its path is known on its own node only.
 *
 * Files are written beside, then renamed, and never half-visible; directories
 * are made 0700 and must be the user's own (design, section 11).
 */
#ifndef LAUNCHER_BASE_STEP_DIR_H
#define LAUNCHER_BASE_STEP_DIR_H

#include <stddef.h>

#define STEP_NAME_MAX 64       /* bytes of a step's name */
#define STEP_SOCKET   "socket" /* in it: feeder.h */
#define STEP_PATH_MAX 108      /* bytes of a path in it; sun_path of unix(7) */

/*
 * What an agent of --local has in place of a step: the name of its step
 * directory and of its cgroup, made of the front end's pid and the node.  The
 * front end removes both if the agent is killed.
 */
void step_dir_local_name(char name[STEP_NAME_MAX],
                         int front_end_pid,
                         const char *node);

/* The path of the step's directory, or of a plain name in it.  0, or -1 with
 * errno: there is no such directory, or it is too long. */
int step_dir_path(char path[STEP_PATH_MAX], const char *step, const char *file);

/* A path for file in the step directory of whichever node it comes to: 0, or
 * -1 if it is too long. */
int step_dir_anywhere(char *path,
                      size_t size,
                      const char *step,
                      const char *file);
/* What such a path, of size bytes, is on this node; others stay.  0, or -1 if
 * it is nothing here. */
int step_dir_here(char *path, size_t size);

/*
 * Put content as file into the directory of this step, both plain names; if
 * file is "" the directory is made and no more.
 * Returns 0, or an errno value.
 */
int step_dir_put(const char *step,
                 const char *file,
                 const void *content,
                 size_t len);
/* A symbolic link there, in place of what bears its name.  As above. */
int step_dir_link(const char *step, const char *file, const char *target);
/* Remove the step's directory and what is in it; nothing there is fine. */
void step_dir_remove(const char *step);
/* Of what is called <prefix><process id> remove what killed processes have
 * left. */
void step_dir_sweep(const char *prefix);

#endif
