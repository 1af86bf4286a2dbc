/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_dir.h - the step directory on a node, /dev/shm/evenstep-<uid>/<step>:
 * the agent puts files there for the plugin and the tasks.  If another user has
 * taken the name evenstep-<uid>, a random suffix is added (user_dir.h), so the
 * path may differ from node to node.
 *
 * A file is written under another name, then renamed, so nobody sees a part of
 * it.  Directories have mode 0700 and must belong to the user.
 */
#ifndef LAUNCHER_BASE_STEP_DIR_H
#define LAUNCHER_BASE_STEP_DIR_H

#include <stddef.h>

#define STEP_NAME_MAX 64       /* bytes of a step's name */
#define STEP_SOCKET   "socket" /* a name in it; see feeder.h */
#define STEP_PATH_MAX 108      /* bytes of a path there; sun_path of unix(7) */

/*
 * The name that an agent of --local uses in place of a step's, for its step
 * directory and its cgroup: it holds the front end's pid and the node.  The
 * front end removes both if the agent is killed.
 */
void step_dir_local_name(char name[STEP_NAME_MAX],
                         int front_end_pid,
                         const char *node);

/* The path of a file in the step's directory; file "" is the directory itself.
 * 0, or -1 with errno: there is no such directory, or the path is too long. */
int step_dir_path(char path[STEP_PATH_MAX], const char *step, const char *file);

/* A path for a file in the step directory that holds on every node, after
 * step_dir_here() there.  0, or -1 if it is too long. */
int step_dir_anywhere(char *path,
                      size_t size,
                      const char *step,
                      const char *file);
/* Replace such a path, in size bytes, by the one on this node; any other path
 * stays.  0, or -1 if there is no such step here. */
int step_dir_here(char *path, size_t size);

/*
 * Write content to a file in the step's directory.  step and file are plain
 * names; if file is "", only the directory is created.  Returns 0 or an errno
 * value.
 */
int step_dir_put(const char *step,
                 const char *file,
                 const void *content,
                 size_t len);
/* Create a symbolic link there, and replace a file of that name.  As above. */
int step_dir_link(const char *step, const char *file, const char *target);
/* Remove the step's directory and its files, if it exists. */
void step_dir_remove(const char *step);
/* Remove directories called <prefix><process id> whose process is no more. */
void step_dir_sweep(const char *prefix);

#endif
