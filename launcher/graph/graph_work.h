/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_work.h - what the tasks of a graph do: their commands, and the files
 * that they take and make.
 *
 * evenstep's own JSON says of a task, besides its id and time, "command" (a
 * line for the shell, or a list of words), "inputs" and "outputs" (lists of
 * names), "env", "timeout" and "retries"; any other key is an error.  env(1) and
 * timeout(1) do the first two, so they are part of the words.  WfFormat has them as the command of the execution, and inputFiles
 * and outputFiles of the specification; Makeflow's rules have the same keys as
 * evenstep's tasks.  A file that no task makes is the
 * user's; one that no task takes is a result.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_WORK_H
#define LAUNCHER_GRAPH_GRAPH_WORK_H

#include "launcher/graph/graph_file.h"

struct graph_work_file {
    char *name;     /* relative */
    uint32_t maker; /* task, or GRAPH_NOBODY: the user's */
    uint32_t takers;
};

struct graph_work {
    struct graph_work_file *file;
    uint32_t files;
    size_t room;
    struct graph_work_task {
        char **argv;     /* NULL-ended */
        char *name;      /* its identifier's text */
        uint32_t *input; /* files */
        uint32_t *output;
        uint32_t inputs, outputs;
        double timeout;  /* seconds; 0: none */
        int64_t retries; /* -1: as for all */
    } * task;            /* as in the graph */
    uint32_t tasks;
    json_t *index; /* number of a file by its name; only while it is read */
};

/*
 * Read what the tasks of f, read from the file at path, do.  Fails with
 * ES_USAGE, naming the place; *w is empty then.
 */
int graph_work_read(struct graph_work *w,
                    const char *path,
                    const struct graph_file *f,
                    struct es_error *err);
void graph_work_clear(struct graph_work *w);

#endif
