/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task_feed.h - the list of a run's tasks as frames: what stands between two barriers
 * is one.  Of a list that is followed (task_sources.follow) the last frame is open: it
 * grows as lines come, until a barrier, or the end of the list.
 *
 * A line that is no good, or a file that is no more what it was, ends a list that is
 * followed where it stands: what stands before that is done, and then it is told.
 */
#ifndef LAUNCHER_RUN_TASK_FEED_H
#define LAUNCHER_RUN_TASK_FEED_H

#include "launcher/run/frame.h"
#include "launcher/run/task_list.h"

struct event_base;
struct task_feed;

/* Write the records that there are; the list, with its highest field (task_list.h), is
 * the feed's from now on, also if this fails: NULL, with ES_USAGE or ES_WORK. */
struct task_feed *task_feed_open(struct task_list *list,
                                 size_t need,
                                 struct es_error *err);
void task_feed_close(struct task_feed *f); /* NULL is allowed */
/* The file of the records, one a line; the caller's.  -1: no memory. */
int task_feed_file(const struct task_feed *f);
uint64_t task_feed_tasks(const struct task_feed *f); /* so far */
/* What lines have said that tasks need; grows with them, the feed's. */
const struct need_list *task_feed_needs(const struct task_feed *f);
/* See task_list_check_needs(). */
int task_feed_check_needs(struct task_feed *f,
                          task_need_check *check,
                          void *arg,
                          struct es_error *err);
int task_feed_is_open(const struct task_feed *f); /* more may come */
/* From now on there() is called when there is more, or there will be no more.  0, or
 * -1 with err.  Of a list that has ended it is nothing. */
int task_feed_watch(struct task_feed *f,
                    struct event_base *base,
                    void (*there)(void *arg),
                    void *arg,
                    struct es_error *err);
/* The next frame: an enum extracted, or -1: what the list ends with is no good. */
int task_feed_next(struct task_feed *f,
                   struct frame *frame,
                   struct es_error *err);
/* The frame that was given last is *frame; is it another by now?  Then so is *frame. */
int task_feed_grow(const struct task_feed *f, struct frame *frame);
/* The frame that some tasks are of, as far as is known now.  0, or -1: of none, or two. */
int task_feed_place(const struct task_feed *f,
                    struct slice units,
                    uint64_t *frame);

#endif
