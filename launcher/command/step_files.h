/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_files.h - what the front end of a step gives every node for its tasks:
 * the step directory, how many of the tasks are there, and the environment that
 * they get.  Each node confirms each of them by MSG_STORED.
 */
#ifndef LAUNCHER_COMMAND_STEP_FILES_H
#define LAUNCHER_COMMAND_STEP_FILES_H

#include "launcher/base/step_meter.h"
#include "launcher/session/qualification.h"
#include "launcher/session/session.h"

struct step_files {
    struct session *session;
    char step[32];       /* "JOB.STEP", the name of the directory */
    uint32_t *tasks;     /* of the step on each node; owned */
    uint32_t patience_s; /* of tasks that wait for a slice */
    int by_speed; /* tasks of a node get what they showed to be able to */
    enum step_meter meter;
    int lend;         /* CPUs of ranks that wait */
    const char *libs; /* folders of libraries that came, "a:b" */
    size_t unstored;  /* that nodes have not confirmed yet */
};

/* The directories, on all nodes. */
void step_files_make_directories(struct step_files *f);
/* To one node: its tasks may ask for slices. */
void step_files_put_tasks(struct step_files *f, size_t node);
/* What each is to have of its own, to all at once; unfit: a byte a node, not 0 where
 * it gets no work.  -1 if memory ran out. */
int step_files_put_own(struct step_files *f,
                       const struct qualification *q,
                       const char unfit[]);

#endif
