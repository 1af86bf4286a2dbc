/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * persistent.h - run one program that stays alive, and feed it slices: an
 * execution with a feeder of one seat.
 *
 * It finds the feeder by EVENSTEP_SOCKET.  A program that breaks the rules is
 * stopped, and so is one that has closed when there is more for it to do.
 *
 * All functions and callbacks run on the event loop's thread.
 */
#ifndef LAUNCHER_AGENT_PERSISTENT_H
#define LAUNCHER_AGENT_PERSISTENT_H

#include "launcher/agent/feeder.h"
#include "launcher/exec/execution.h"

struct persistent;

struct persistent_events {
    /* It asks for its first slice and there is none; what it brings along. */
    void (*idle)(void *arg, const struct msg_idle *idle);
    /* It says where it listens, as feeder_events has it. */
    void (*listens)(void *arg, int fd, const struct slice_message *m);
    /* What it has written to stdout for the slice at hand. */
    void (*output)(void *arg, const void *buf, size_t len);
    /* What it writes to stderr. */
    void (*err)(void *arg, const void *buf, size_t len);
    /* The slice at hand is done; its output has come. */
    void (*done)(void *arg, const struct feeder_result *result);
    /* The program has ended, as execution_end_fn has it.  If it owed a slice,
     * status is not 0, and its last words say so. */
    void (*end)(void *arg, const struct execution_end *end);
};

/*
 * Start the program of spec; envp of spec may not be NULL.  step names the
 * directory of the socket (feeder_open()).  On failure *p is untouched.
 */
int persistent_start(struct persistent **p,
                     struct event_base *base,
                     const struct execution_spec *spec,
                     const char *step,
                     const struct persistent_events *on,
                     void *arg,
                     struct es_error *err);

/* Give it a slice, one at a time, with a file of its lines; 0: none. */
void persistent_give(struct persistent *p,
                     const struct msg_run *slice,
                     int file);
/* There are no more slices: it may end, in its own time. */
void persistent_finish(struct persistent *p);
/* As the functions of execution.h. */
void persistent_hold(struct persistent *p, int on);
void persistent_stop(struct persistent *p);
pid_t persistent_group(const struct persistent *p);
void persistent_destroy(struct persistent *p);

#endif
