/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_journal.h - the file in which a run of a task graph keeps what is done,
 * so that another run can go on where it ended.
 *
 * It is a record_log.  The first line says which graph it is of, the name of
 * the run, which is that of its folders on the nodes, and size and time of each
 * input.  Then follow the tasks that are done and the results that were
 * delivered, with sizes and digests:
 *
 *   {"type":"graph","version":2,"graph":HEX,"run":NAME,
 *    "inputs":[[BYTES,MTIME_NS]...],"sum":HEX}
 *   {"type":"done","task":NAME,"seconds":X,"outputs":[[BYTES,HEX]...],...}
 *   {"type":"delivered","file":NAME,"made":[BYTES,HEX],"sum":HEX}
 *
 * Inputs are in the order of the graph's files, outputs in that of the task's.
 * A line is on the disk before anything else is done.
 */
#ifndef LAUNCHER_GRAPH_GRAPH_JOURNAL_H
#define LAUNCHER_GRAPH_GRAPH_JOURNAL_H

#include "launcher/base/record_log.h"
#include "launcher/graph/graph_work.h"
#include "pmix_bcast/exchange.h"

#define GRAPH_RUN_NAME 33 /* of a run, with its NUL */

struct graph_journal {
    struct record_log log;
    int kept; /* 0: there is none */
};

/* What a journal says; by task and by file.  Of made only sizes and digests
 * are known. */
struct graph_journal_events {
    void (*done)(void *arg,
                 uint32_t task,
                 double seconds,
                 const struct exchange_file made[]); /* a task's outputs */
    void (*delivered)(void *arg,
                      uint32_t file,
                      const struct exchange_file *made);
    void *arg;
};

/* An input as it was at the start; all 0 of other files. */
struct graph_input {
    uint64_t bytes;
    int64_t mtime_ns;
};

/*
 * Begin a journal, with the name of the run.  With resume, read the journal
 * that is there, tell its events, and append to it; run becomes the name that
 * is in it.  Fails with ES_USAGE if it is of another graph or its inputs have
 * changed. path must outlive it; NULL: no journal is kept.
 *
 *   input  by file
 */
int graph_journal_open(struct graph_journal *j,
                       const char *path,
                       int resume,
                       const struct graph_work *w,
                       const struct graph_input input[],
                       char run[GRAPH_RUN_NAME],
                       const struct graph_journal_events *on,
                       struct es_error *err);
int graph_journal_done(struct graph_journal *j,
                       const struct graph_work *w,
                       uint32_t task,
                       double seconds,
                       const struct exchange_file made[],
                       struct es_error *err);
int graph_journal_delivered(struct graph_journal *j,
                            const struct graph_work *w,
                            uint32_t file,
                            const struct exchange_file *made,
                            struct es_error *err);
void graph_journal_close(struct graph_journal *j);

#endif
