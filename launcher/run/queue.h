/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * queue.h - the work queue: frames from files and pipes, one a line,
 * `B:E [LABEL]`, first in, first out, read as they come and not far ahead.
 *
 * Several sources are one queue, in the order in which their lines arrive.  A
 * bad line ends the queue where it stands: the frames before it are still
 * given out.  Frames of one label may not overlap, as their units would be
 * done twice.
 *
 * A file that others rewrite while it is read ends the queue, too, with what was
 * read of it before.
 *
 * With a journal each frame is noted when it is read.  A run that resumes
 * first does these; a pipe goes on with what comes.  Of a regular file it passes
 * over as many lines: where one is another now, or is there no more, so is its
 * frame.
 */
#ifndef LAUNCHER_RUN_QUEUE_H
#define LAUNCHER_RUN_QUEUE_H

#include "launcher/run/journal.h"
#include "launcher/run/work_types.h"
#include "pmix_bcast/error.h"

#define QUEUE_SOURCES_MAX 16 /* pipelines that feed one job by hand */

struct event_base;
struct queue;

struct queue_setup {
    const char *const *path; /* n; "-" is stdin */
    size_t n;
    const struct work_types *types; /* that lines may name; NULL: none */
    int by_type; /* what overlaps may do so in frames of two types */
    int follow;  /* files may grow, pipes get other writers */
    struct journal *journal; /* NULL: none */
};

/*
 * Open all sources; what setup points to must outlive q, but for itself.
 * there() is called from the event loop when there may be a frame after
 * EXTRACTED_LATER.
 */
int queue_open(struct queue **q,
               struct event_base *base,
               const struct queue_setup *setup,
               void (*there)(void *arg),
               void *arg,
               struct es_error *err);
void queue_close(struct queue *q); /* NULL is allowed */
/* Read the first lines, those that the journal has among them; to be called once,
 * and first.  0, or -1: a bad line is the first of all, or among those. */
int queue_look(struct queue *q, struct es_error *err);
/* The next frame.  An enum extracted, or -1: a bad line is next, or the
 * journal's disk is full. */
int queue_next(struct queue *q, struct frame *f, struct es_error *err);

/* At the end: warn of files that have grown since their end was read, or in whose
 * place another one is now. */
void queue_tell_changes(const struct queue *q);

#endif
