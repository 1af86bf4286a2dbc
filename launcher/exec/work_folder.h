/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * work_folder.h - the folder in which the tasks of a graph run on a node.
 *
 *   FOLDER/evenstep-graph-UID-RUN-NODE/     0700, owned by the user, locked
 *       kept                                exists if --resume may need it
 *       store/NUMBER                        a file that is complete
 *       task-ID/                            where a task runs
 *
 * A task finds its inputs in its folder under their names, as hard links, so
 * nothing is copied within a node.  Its outputs move to the store when it has
 * succeeded: nobody sees a part of one, and a task that runs again starts from
 * an empty folder.
 *
 * A folder that is neither locked nor kept belonged to an agent that was
 * killed: the next agent there removes it.
 */
#ifndef LAUNCHER_EXEC_WORK_FOLDER_H
#define LAUNCHER_EXEC_WORK_FOLDER_H

#include "launcher/wire/graph_message.h"
#include "pmix_bcast/error.h"

struct work_folder {
    char path[4096]; /* "": not open */
    int fd, store;   /* -1: not open */
};

#define WORK_FOLDER_CLOSED                                                     \
    (struct work_folder)                                                       \
    {                                                                          \
        .fd = -1, .store = -1                                                  \
    }

/* Create the folder, or take over the one that a run of that name has left. */
int work_folder_open(struct work_folder *f,
                     const char *folder,
                     const char *run,
                     const char *node,
                     struct es_error *err);
/* Mark it as kept, even if this process is killed.  0, or -1 with err. */
int work_folder_keep(const struct work_folder *f, struct es_error *err);
/* Remove the folders of this user and this node that nobody needs any more.
 * Those of other nodes stay: their locks may not be visible here. */
void work_folder_sweep(const char *folder, const char *node);
/* List the files in the store.  Their digests are computed, so all of them are
 * read.  The caller frees *file. */
int work_folder_list(const struct work_folder *f,
                     struct exchange_file **file,
                     uint32_t *n,
                     struct es_error *err);
/* Open a file of the store for reading; -1 with errno. */
int work_folder_read(const struct work_folder *f, uint32_t number);
/* The path of a file of the store.  0, or -1 if it does not fit. */
int work_folder_path(const struct work_folder *f,
                     uint32_t number,
                     char *path,
                     size_t size);
/* Create the folder of a task with its inputs, and the folders for its outputs;
 * path gets its name. */
int work_folder_begin(const struct work_folder *f,
                      const struct graph_task *task,
                      char *path,
                      size_t size,
                      struct es_error *err);
/*
 * Move a task's outputs to the store, with sync also onto the disk; file[] gets
 * them, with their digests.  Returns 0; the number, from 1, of the first that
 * is no regular file; or -1 with err.
 */
int work_folder_take(const struct work_folder *f,
                     const struct graph_task *task,
                     int sync,
                     struct exchange_file file[],
                     struct es_error *err);
/* Has the task made a directory where that output was to be? */
int work_folder_has_directory(const struct work_folder *f,
                              uint32_t task,
                              const char *output);
/* Remove the folder of a task. */
void work_folder_end(const struct work_folder *f, uint32_t task);
/* Create the folders of a path; 0, or -1 with errno. */
int work_folder_make_way(int at, const char *name);
/* Close it, and without keep remove it. */
void work_folder_close(struct work_folder *f, int keep);

#endif
