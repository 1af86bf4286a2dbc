/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * work_folder.h - where the tasks of a graph work on a node.
 *
 *   FOLDER/evenstep-graph-UID-RUN-NODE/     0700, the user's own, locked
 *       kept                                is there if --resume may need it
 *       store/NUMBER                        a file that is here, and whole
 *       task-ID/                            where a task runs
 *
 * A task finds its inputs in its folder under their names, as hard links: in a
 * node nothing is copied.  Its outputs go into the store when it has ended
 * well, so that nobody ever sees half of one, and a task that is done again
 * starts from nothing.
 *
 * A folder that is neither locked nor kept is of an agent that was killed: the
 * next one there takes it away.
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

/* Make it, or take over what a run of that name has left. */
int work_folder_open(struct work_folder *f,
                     const char *folder,
                     const char *run,
                     const char *node,
                     struct es_error *err);
/* It is to be kept, whatever becomes of us; 0, or -1 with err. */
int work_folder_keep(const struct work_folder *f, struct es_error *err);
/* Take away those of this user for this node that nobody will use any more.
 * Not for others: locks may not be seen from node to node. */
void work_folder_sweep(const char *folder, const char *node);
/* The files in the store, with their digests, which takes its time; *file is
 * the caller's, to be freed. */
int work_folder_list(const struct work_folder *f,
                     struct exchange_file **file,
                     uint32_t *n,
                     struct es_error *err);
/* A file of the store for reading, or -1 with errno; the path for writing. */
int work_folder_read(const struct work_folder *f, uint32_t number);
int work_folder_path(const struct work_folder *f,
                     uint32_t number,
                     char *path,
                     size_t size);
/* Make the folder of a task with its inputs in it, and the folders that its
 * outputs are to lie in; path gets its name. */
int work_folder_begin(const struct work_folder *f,
                      const struct graph_task *task,
                      char *path,
                      size_t size,
                      struct es_error *err);
/*
 * Put a task's outputs into the store; file[] gets them, with their digests.
 * With sync they are on the disk then.  Returns 0; or
 * the number, from 1, of the first that is no regular file there, or -1 with
 * err, and then the store is as it was.
 */
int work_folder_take(const struct work_folder *f,
                     const struct graph_task *task,
                     int sync,
                     struct exchange_file file[],
                     struct es_error *err);
/* Take the folder of a task away. */
void work_folder_end(const struct work_folder *f, uint32_t task);
/* Make the folders that lead to a name; 0, or -1 with errno. */
int work_folder_make_way(int at, const char *name);
/* Close it, and, if it is not kept, take it away. */
void work_folder_close(struct work_folder *f, int keep);

#endif
