/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * joblog.h - the FILE of --joblog: a line as each command ends, with GNU
 * parallel's columns, three more, and a tab between:
 *
 *   Seq Host Starttime JobRuntime Send Receive Exitval Signal Command
 *   Units Frame Text
 *
 * Of a run whose units are tasks Seq is the task's number, Command its own, and
 * behind it are Units Tries CPU MiB: how often it was run, its CPU seconds and the
 * most memory of one of its processes.  Else Seq counts the lines, and goes on where a run goes on.  Text is the begin of
 * what the units are: their lines, or the frame's label.
 * Every try has a line of its own; one whose node was lost has none.  A line is
 * in the file before the next command is answered, so a crash costs none.  A
 * disk that is full costs lines, of which one warning is told, but never the
 * run.
 */
#ifndef LAUNCHER_RUN_JOBLOG_H
#define LAUNCHER_RUN_JOBLOG_H

#include "launcher/base/lines.h"
#include "launcher/run/frame.h"
#include "launcher/run/work_types.h"
#include "pmix_bcast/error.h"

/* Exitval of what was ended; with Signal 15, as in GNU parallel. */
#define JOBLOG_ENDED (-1)

struct joblog { /* all zero: none */
    const char *path;
    int fd;
    int is_regular, has_warned;
    uint64_t seq; /* of the last line */
    char *const *command;
    const struct work_types *types; /* NULL: all work is of that command */
    const struct lines *lines;      /* of --lines; NULL: none */
};

struct joblog_task { /* that has ended */
    uint64_t unit;
    const char *node, *command; /* in one line */
    double begun;               /* seconds since 1970 */
    double seconds, cpu;
    uint64_t output; /* bytes of its stdout */
    int status, signal;
    unsigned tries, rss_mib;
};

/* path and command must outlive it; a path of NULL: none is wanted.  are_tasks: it
 * gets lines of these.  The file
 * is emptied unless the run goes on with another: then a line that a killed run
 * has torn is cut off, and what is no job log is refused.  Fails with ES_USAGE. */
int joblog_open(struct joblog *j,
                const char *path,
                int goes_on,
                char *const command[],
                int are_tasks,
                struct es_error *err);
void joblog_close(struct joblog *j);
/* A piece's command has ended in a node's slot, after so many seconds; exit status and
 * signal as they are to be told. */
void joblog_add(struct joblog *j,
                const struct piece *p,
                const char *node,
                uint32_t slot,
                double seconds,
                int status,
                int signal);
/* A task has. */
void joblog_add_task(struct joblog *j, const struct joblog_task *t);

#endif
