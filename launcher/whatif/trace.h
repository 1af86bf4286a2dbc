/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace.h - one line of a TRACE: what happened to the nodes of a policy, as
 * JSON; evenstep-report(5).
 *
 *   {"op":"open","channels":4,"context_max":null}
 *   {"op":"set_job","channel":0,"job_tasks":1000,"left":400}
 *    (without "left": all of them)
 *   {"op":"feedback","channel":0,"size":10,"time_ns":60050000}
 *   {"op":"feedback4","channel":0,"size":10,"accumulated_ns":60000000,
 *    "overhead_ns":50000,"threads":1}
 *   {"op":"set_threads","channel":0,"threads":4,"available_processors":null}
 *    (of another driver: "peer":true,"peer_threads":4)
 *   {"op":"add_channel"}
 *    (a new one; "channel":1 is one that was removed, as new)
 *   {"op":"remove_channel","channel":1}
 *
 * and the lines of a run's report (report.h), with "type" for "op".  A channel
 * is a node; JPPF's word.  Keys that an op does not need are ignored.
 */
#ifndef LAUNCHER_WHATIF_TRACE_H
#define LAUNCHER_WHATIF_TRACE_H

#include "pmix_bcast/error.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define TRACE_CHANNELS_MAX 65536 /* as many as a broadcast may have nodes */
#define TRACE_CHANNEL_NEW  SIZE_MAX

/* Bytes; a frame of 16,384 nodes with 16 pieces each has one of some 30 MB. */
#define TRACE_LINE_MAX (64u << 20)

enum trace_op {
    TRACE_OPEN,
    TRACE_SET_JOB,
    TRACE_FEEDBACK, /* feedback4, too, with the time that follows from it */
    TRACE_SET_THREADS,
    TRACE_ADD_CHANNEL,
    TRACE_REMOVE_CHANNEL,
    TRACE_FRAME,  /* of a report */
    TRACE_SUMMARY /* of a report: nothing happened */
};

struct trace_event {
    enum trace_op op;
    size_t channel;     /* open: how many there are; add_channel: which is
                           back, or TRACE_CHANNEL_NEW */
    int64_t tasks;      /* of the job, of the bundle; open: context_max or 0 */
    int64_t left;       /* set_job: tasks that are yet to be sent */
    double time_ns;     /* of the bundle, >= 0 if it has tasks */
    int32_t threads;    /* 0 = not known */
    int32_t processors; /* likewise */
};

/* A node's part of a frame. */
struct trace_slice {
    const char *node;
    int64_t begin, units; /* >= 1 */
    double seconds;       /* for which its command ran */
    double back;  /* from the frame's start to its answer; -1: unknown */
    double start; /* of these, for its start-up; -1: unknown */
    double cpu;   /* its CPU time; 0: unknown */
};

struct trace_line {
    struct trace_event event;
    struct trace_slice *slice; /* of a frame: done, in one block with failed */
    size_t n;
    const struct trace_slice *failed; /* that failed, or were lost */
    size_t n_failed;
    json_t *json; /* owns the names of the nodes */
};

/*
 * Read one line, without its end; number is that of the line, for messages.
 * The numbers of ops fit into an int32_t, as in JPPF; the units of a frame add
 * up to less than 2^63.  Fails with ES_USAGE, or with ES_ENV if memory ran out.
 */
int trace_parse(struct trace_line *line,
                size_t number,
                const char *text,
                size_t len,
                struct es_error *err);
void trace_clear(struct trace_line *line);

/* Another number of the object, from low to high.  `number` is that of the
 * line. */
int trace_number(const struct trace_line *line,
                 size_t number,
                 const char *key,
                 double low,
                 double high,
                 double *v,
                 struct es_error *err);

#endif
