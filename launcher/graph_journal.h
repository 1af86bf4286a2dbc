/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_journal.h - what a run of a task graph has done, in a file, so that
 * another can go on where it ended.
 *
 * A record_log: which graph, and the name of the run (of its folders on the
 * nodes); then each task that is done, and each result that was delivered.
 */
#ifndef LAUNCHER_GRAPH_JOURNAL_H
#define LAUNCHER_GRAPH_JOURNAL_H

#include "launcher/graph_work.h"
#include "launcher/record_log.h"

#define GRAPH_RUN_NAME 33 /* of a run, with its NUL */

struct graph_journal {
    struct record_log log;
    int kept; /* 0: there is none */
};

/* What a journal says; by task and by file. */
struct graph_journal_events {
    void (*done)(void *arg, uint32_t task, double seconds);
    void (*delivered)(void *arg, uint32_t file);
    void *arg;
};

/*
 * Begin a journal, with the name of the run; or, with resume, hear what one
 * that is there says and go on behind it, and run becomes the name that is
 * there.  One of another graph is not gone on with: ES_USAGE.  path must
 * outlive it; NULL: none is kept.
 */
int graph_journal_open(struct graph_journal *j,
                       const char *path,
                       int resume,
                       const struct graph_work *w,
                       char run[GRAPH_RUN_NAME],
                       const struct graph_journal_events *on,
                       struct es_error *err);
int graph_journal_done(struct graph_journal *j,
                       const struct graph_work *w,
                       uint32_t task,
                       double seconds,
                       struct es_error *err);
int graph_journal_delivered(struct graph_journal *j,
                            const struct graph_work *w,
                            uint32_t file,
                            struct es_error *err);
void graph_journal_close(struct graph_journal *j);

#endif
