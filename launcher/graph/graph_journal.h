/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_journal.h - what a run of a task graph has done, in a file, so that
 * another can go on where it ended.
 *
 * A record_log: which graph, the name of the run (of its folders on the nodes),
 * and size and time of what the user gave; then each task that is done and
 * each result that was delivered, with sizes and digests:
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

/* A file of the user's, as it was at the start; of others nothing. */
struct graph_input {
    uint64_t bytes;
    int64_t mtime_ns;
};

/*
 * Begin a journal, with the name of the run; or, with resume, hear what one
 * that is there says and go on behind it, and run becomes the name that is
 * there.  One of another graph, or of inputs that were others, is not gone on
 * with: ES_USAGE.  path must outlive it; NULL: none is kept.
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
